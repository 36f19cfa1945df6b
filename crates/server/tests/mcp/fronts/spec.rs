//! Tests of the tools of the first specification of ICM.

use serde_json::json;

use super::{connect, id_of, in_shop};
use crate::look::{Look, Says};

#[tokio::test]
async fn calls_of_the_first_specification_work_unchanged() {
    let mut client = connect("spec", in_shop()).await;
    let store = json!({
        "topic": "projet-kexa", "content": "Architecture: utiliser Turso pour la DB",
        "importance": "high", "raw_excerpt": "libsql://your-db.turso.io",
    });
    let (text, stored) = client.ok("icm_store", store).await;
    text.says(format!(
        "stored {} in topic \"projet-kexa\"",
        id_of(&stored)
    ));
    let port = json!({"topic": "projet-kexa", "content": "Le serveur écoute sur le port 8080"});
    client.ok("icm_store", port).await;
    let store = json!({
        "topic": "preferences", "content": "User préfère Rust à Go",
        "keywords": ["rust", "go", "language"],
    });
    client.ok("icm_store", store).await;

    let recall = json!({"query": "architecture Turso", "limit": 5});
    let (text, found) = client.ok("icm_recall", recall).await;
    assert_eq!(found["results"][0]["id"], stored["id"], "{found}");
    text.lacks("cursor");
    for (least, count) in [(0.0, 1), (1.0, 1)] {
        let recall = json!({"query": "Turso", "topic": "projet-kexa", "min_weight": least});
        let (_, found) = client.ok("icm_recall", recall).await;
        assert_eq!(found["results"].count(), count, "{least}: {found}");
    }
    let (text, topics) = client.ok("icm_list_topics", json!({})).await;
    assert_eq!(topics["topics"].count(), 2, "{text}");
    let (_, stats) = client.ok("icm_stats", json!({})).await;
    stats.has(json!({"memories": 3, "topics": 2}));

    for content in [
        "La base ne répond pas: redémarrer Turso",
        "Le port est pris: tuer le serveur",
    ] {
        let store = json!({"topic": "erreurs", "content": content});
        client.ok("icm_store", store).await;
    }
    for (topic, keep, memories) in [("projet-kexa", true, 6), ("erreurs", false, 5)] {
        let consolidate = json!({"topic": topic, "keep_originals": keep});
        client.ok("icm_consolidate", consolidate).await;
        let (_, stats) = client.ok("icm_stats", json!({})).await;
        assert_eq!(stats["memories"], memories, "{topic}");
    }
    let (_, found) = client.ok("icm_recall", json!({"query": "Rust"})).await;
    let preference = &found["results"][0]["id"];
    client.ok("icm_forget", json!({"id": preference})).await;
    let (_, stats) = client.ok("icm_stats", json!({})).await;
    assert_eq!(stats["memories"], 4);
    client.end().await;
}

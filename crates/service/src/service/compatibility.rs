//! Compatibility of processes: one process answers for another only if both are the same program with the same
//! settings. A new setting that answers or writes depend on needs a field here; no test notices that it is missing.

use icm_projections::ranking::Ranking;
use serde::Serialize;

use super::Service;
use crate::embedding::Model;
use icm_api::{DecayPolicy, Dedup};
use icm_guard::secrets::Policy;

/// The settings that an answer depends on, beside the store and the request.
#[derive(Serialize)]
struct Compatibility<'a> {
    version: &'static str,
    secrets: &'a Policy,
    dedup: &'a Dedup,
    decay: &'a DecayPolicy,
    hint_over: u64,
    /// `None` for the default, whose twenty numbers are the same in every process of this version.
    ranking: Option<&'a Ranking>,
    links: bool,
    model: &'a Model,
    zone: Option<String>,
}

impl Service {
    /// Returns the digest of the program and its user's settings. A process answers only for processes with the same
    /// digest.
    pub fn settings_digest(&self) -> String {
        let digest = || {
            let settings = Compatibility {
                version: env!("CARGO_PKG_VERSION"),
                secrets: &self.settings.secrets,
                dedup: &self.settings.dedup,
                decay: &self.settings.decay,
                hint_over: self.settings.hint_over,
                ranking: (self.settings.ranking != Ranking::default())
                    .then_some(&self.settings.ranking),
                links: self.settings.links,
                model: &self.embedding.model,
                zone: std::env::var_os("TZ").map(|zone| zone.to_string_lossy().into_owned()),
            };
            let settings = serde_json::to_vec(&settings).expect("settings are plain values");
            blake3::hash(&settings).to_hex()[..32].to_owned()
        };
        self.settings_digest.get_or_init(digest).clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::service::tests::service;
    use icm_api::Dedup;
    use icm_guard::secrets::{Action, Policy};
    use icm_projections::ranking::Ranking;

    #[test]
    fn each_setting_that_answers_depend_on_changes_the_digest() {
        let folder = tempfile::tempdir().expect("a folder");
        let usual = || service(folder.path());
        let allowing = Policy::new(Action::Refuse, &["a.c".to_owned()]).expect("a pattern");
        let ranking = Ranking {
            coverage: 0.125,
            ..Ranking::default()
        };
        let dedup = Dedup {
            similar_ppm: 1,
            ..Dedup::default()
        };
        let all = [
            usual(),
            usual().with_secrets(allowing),
            usual().with_ranking(ranking),
            usual().with_dedup(dedup),
            usual().with_links(false),
        ];
        let digests: std::collections::BTreeSet<String> =
            all.iter().map(|it| it.settings_digest()).collect();
        assert_eq!(digests.len(), all.len());
        assert_eq!(usual().settings_digest(), usual().settings_digest());
    }
}

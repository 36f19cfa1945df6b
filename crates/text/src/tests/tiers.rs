//! Versions that are closed and added again.

use super::*;

#[test]
fn closed_versions_are_history() -> Outcome {
    let mut index = index_of(&[doc(0, "the port is 80"), doc(1, "other")], 1)?;
    let mut writer = index.writer()?;
    writer.close(&doc(0, "the port is 80"));
    writer.add_live(&doc(2, "the port is 8080"));
    writer.commit("two")?;
    index.reload()?;
    let history = TextQuery {
        history: true,
        ..ask("port")
    };
    assert_eq!(ordinals(&index, &Tail::new(), &ask("port"))?, [2]);
    let both = ordinals(&index, &Tail::new(), &history)?;
    assert_eq!(BTreeSet::from_iter(both), BTreeSet::from([0, 2]));
    let as_of = index.search(&Tail::new(), &history, &|ordinal| ordinal < 2)?;
    assert_eq!(as_of.hits.len(), 1);
    assert_eq!(as_of.hits[0].ordinal, 0);
    assert_eq!(
        index.ordinals()?,
        (BTreeSet::from([1, 2]), BTreeSet::from([0]))
    );

    let mut writer = index.writer()?;
    writer.remove(0);
    writer.close(&doc(1, "other"));
    writer.close(&doc(2, "the port is 8080"));
    writer.commit("three")?;
    index.reload()?;
    assert_eq!((index.live_docs(), index.closed_docs()), (0, 2));
    assert_eq!(ordinals(&index, &Tail::new(), &history)?, [2]);
    Ok(())
}

#[test]
fn adding_again_changes_nothing() -> Outcome {
    let mut index = index_of(&[doc(0, "apple"), doc(1, "pear")], 1)?;
    let mut writer = index.writer()?;
    writer.add_live(&doc(0, "apple"));
    writer.close(&doc(1, "pear"));
    writer.add_live(&doc(2, "plum"));
    writer.commit("again")?;
    index.reload()?;
    let tokens = index.tokens();
    let mut writer = index.writer()?;
    writer.close(&doc(1, "pear"));
    writer.add_live(&doc(2, "plum"));
    writer.commit("and again")?;
    index.reload()?;
    assert_eq!(index.tokens(), tokens);
    assert_eq!((index.live_docs(), index.closed_docs()), (2, 1));
    let mut tail = Tail::new();
    tail.add(&doc(2, "plum"));
    assert_eq!(ordinals(&index, &tail, &ask("plum"))?, [2]);
    Ok(())
}

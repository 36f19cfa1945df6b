//! Judges pairs from stdin: older, tab, newer, a line each.
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (a, b) = line.split_once('\t').unwrap();
        let (a, b) = (
            icm_replaces::Statement::of(a),
            icm_replaces::Statement::of(b),
        );
        let j = b.judge(&a);
        println!("{:?}\t{:?}", j.verdict, j.reason);
        if std::env::args().nth(1).is_some() {
            println!("{a:#?}");
            println!("{b:#?}");
        }
    }
}

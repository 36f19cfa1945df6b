//! The exact search against a plain one, and damaged or wrong files.

#[cfg(feature = "graph")]
mod graph;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Centred, MAX_DIM, Matrix, MatrixWriter, Near, Query};
use crate::VectorError;

const MODEL: &str = "a-model";

/// Pseudo-random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number of about a normal distribution: a sum of uniform ones.
    fn number(&mut self) -> f32 {
        let uniform = |bits: u64| bits as f32 / u64::MAX as f32 - 0.5;
        (0..6).map(|_| uniform(self.next())).sum()
    }

    fn unit(&mut self, dim: usize) -> Vec<f32> {
        unit((0..dim).map(|_| self.number()).collect())
    }

    /// Returns a unit vector around `centre`; with `spread` 1 its own part is as long as the centre's.
    fn near(&mut self, centre: &[f32], spread: f32) -> Vec<f32> {
        let own = self.unit(centre.len());
        let sums = centre.iter().zip(own).map(|(c, o)| c + spread * o);
        unit(sums.collect())
    }
}

fn unit(mut numbers: Vec<f32>) -> Vec<f32> {
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter_mut().for_each(|x| *x /= length);
    numbers
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Writes a file of vectors with every third ordinal.
fn written(path: &Path, dim: usize, vectors: &[Vec<f32>]) -> u64 {
    let mut writer = MatrixWriter::create(path, MODEL, dim).expect("created");
    for (index, vector) in vectors.iter().enumerate() {
        writer.append(3 * index as u64, vector).expect("appended");
    }
    writer.flush().expect("written")
}

struct Scratch {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn scratch() -> Scratch {
    let dir = tempfile::tempdir().expect("a folder");
    Scratch {
        path: dir.path().join("vectors"),
        _dir: dir,
    }
}

fn unusable(result: Result<impl Sized, VectorError>) -> String {
    match result {
        Err(VectorError::Unusable { why }) => why,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was taken"),
    }
}

/// Returns how many of the ten nearest rows by f32 the scan finds, and how many there are, over 50 queries. Other rows
/// that it finds are no further off than int8 rounds.
fn recall(random: &mut Random, dim: usize, vectors: &[Vec<f32>], near_one: bool) -> (usize, usize) {
    let file = scratch();
    let count = written(&file.path, dim, vectors);
    let matrix = Matrix::open(&file.path, MODEL, dim, count).expect("opened");
    let (mut found, mut all) = (0, 0);
    for _ in 0..50 {
        let any = random.next() as usize % vectors.len();
        let query = match near_one {
            true => random.near(&vectors[any], 0.5),
            false => random.unit(dim),
        };
        // From all rows down to one in sixteen.
        let salt = random.next();
        let bits = (1 << (salt % 5)) - 1;
        let visible = |ordinal: u64| Random(ordinal ^ salt).next() & bits == 0;
        let cosines: Vec<f32> = vectors.iter().map(|vector| dot(vector, &query)).collect();
        let cosine = |ordinal: u64| cosines[ordinal as usize / 3];
        let mut truth: Vec<u64> = (0..count)
            .map(|at| 3 * at)
            .filter(|at| visible(*at))
            .collect();
        truth.sort_by(|a, b| cosine(*b).total_cmp(&cosine(*a)));
        truth.truncate(10);
        let near = matrix
            .scan(&Query::new(&query), 10, &visible)
            .expect("scanned");
        assert_eq!(near.len(), truth.len());
        for Near { ordinal, .. } in &near {
            assert!(visible(*ordinal));
            assert!(cosine(*ordinal) > cosine(truth[truth.len() - 1]) - 0.005);
        }
        let is_found = |ordinal: &&u64| near.iter().any(|near| near.ordinal == **ordinal);
        found += truth.iter().filter(is_found).count();
        all += truth.len();
    }
    (found, all)
}

#[test]
fn finds_what_f32_finds() {
    let mut cases = 0;
    for clusters in [0, 2, 10, 50] {
        for (dim, spread) in [(64, 0.7), (256, 0.4), (256, 0.7), (256, 1.0), (384, 0.7)] {
            let (mut found, mut all) = (0, 0);
            for seed in 0..4 {
                let mut random = Random(seed);
                let centres: Vec<_> = (0..clusters).map(|_| random.unit(dim)).collect();
                let vector = |at: usize| match clusters {
                    0 => random.unit(dim),
                    _ => random.near(&centres[at % clusters], spread),
                };
                let vectors: Vec<_> = (0..1_500).map(vector).collect();
                let counts = recall(&mut random, dim, &vectors, clusters > 0);
                found += counts.0;
                all += counts.1;
            }
            assert_eq!(all, 2_000);
            assert!(
                found >= 1_960,
                "{clusters} clusters, {dim}, {spread}: {found} of {all}"
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 20);
}

proptest! {
    /// Few distinct values, so that many rows are equally near.
    #[test]
    fn a_scan_is_the_ranking_of_all_rows(
        vectors in proptest::collection::vec(proptest::collection::vec(-2_i8..3, 3), 0..60),
        query in proptest::collection::vec(-2_i8..3, 3),
        limit in 0..70_usize,
        hidden in 1..5_u64,
    ) {
        let floats = |numbers: &Vec<i8>| numbers.iter().map(|x| f32::from(*x)).collect::<Vec<f32>>();
        let vectors: Vec<_> = vectors.iter().map(floats).collect();
        let file = scratch();
        let count = written(&file.path, 3, &vectors);
        let matrix = Matrix::open(&file.path, MODEL, 3, count).expect("opened");
        let query = Query::new(&floats(&query));
        let visible = |ordinal: u64| (ordinal / 3).is_multiple_of(hidden);
        let mut expected = Vec::new();
        for ordinal in 0..3 * count + 3 {
            let cosine = matrix.cosine(&query, ordinal).expect("whole");
            prop_assert_eq!(cosine.is_some(), ordinal.is_multiple_of(3) && ordinal < 3 * count);
            let is_near = visible(ordinal) && matrix.vector(ordinal).is_some();
            expected.extend(cosine.filter(|_| is_near).map(|cosine| Near { ordinal, cosine }));
        }
        expected.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.ordinal.cmp(&b.ordinal)));
        expected.truncate(limit);
        prop_assert_eq!(matrix.scan(&query, limit, &visible).expect("whole"), expected);
        matrix.check().expect("whole");
    }
}

#[test]
fn a_cosine_is_as_exact_as_int8_can_be() {
    let mut random = Random(4);
    for dim in [2, 3, 31, 256, 1_024, MAX_DIM] {
        let mut vectors: Vec<_> = (0..20).map(|_| random.unit(dim)).collect();
        // The largest possible sums.
        vectors.push(unit(vec![1.0; dim]));
        let file = scratch();
        let count = written(&file.path, dim, &vectors);
        let matrix = Matrix::open(&file.path, MODEL, dim, count).expect("opened");
        let cosine = |vector: &[f32], at: usize| {
            let cosine = matrix.cosine(&Query::new(vector), 3 * at as u64);
            cosine.expect("whole").expect("it is there")
        };
        for (at, vector) in vectors.iter().enumerate() {
            // Half a step in each number; 1 % for the correction by the scale.
            let query = random.near(vector, 1.0);
            let step = vector.iter().fold(0.0_f32, |max, x| max.max(x.abs())) / 127.0;
            let most = step / 2.0 * query.iter().map(|x| x.abs()).sum::<f32>() + 0.01;
            let off = (cosine(&query, at) - dot(vector, &query)).abs();
            assert!(off < most && (dim < 256 || off < 0.003), "{dim}: {off}");
            let off = (cosine(vector, at) - 1.0).abs();
            assert!(off < 1e-4, "{dim}, of itself: {off}");
        }
    }
}

#[test]
fn a_centred_cosine_is_that_of_what_is_left_without_the_mean() {
    let mut random = Random(6);
    let direction = random.unit(256);
    let mean: Vec<f32> = direction.iter().map(|x| 0.4 * x).collect();
    let vectors: Vec<_> = (0..50).map(|_| random.near(&direction, 1.0)).collect();
    let file = scratch();
    let count = written(&file.path, 256, &vectors);
    let matrix = Matrix::open(&file.path, MODEL, 256, count).expect("opened");
    let less = |vector: &[f32]| unit(vector.iter().zip(&mean).map(|(a, b)| a - b).collect());
    for (at, vector) in vectors.iter().enumerate() {
        let query = random.near(vector, 1.0);
        let cosine = |query: &[f32], mean: &[f32]| {
            let centred = Centred::new(query, mean);
            let cosines = matrix.cosines(&Query::new(query), &centred, 3 * at as u64);
            let (plain, centred) = cosines.expect("whole").expect("it is there");
            assert!((plain - dot(vector, query)).abs() < 0.005);
            centred.map(|cosine| cosine as f32)
        };
        let found = cosine(&query, &mean).expect("something is left");
        let off = (found - dot(&less(vector), &less(&query))).abs();
        assert!(off < 0.005, "{off}");
        let plain = dot(vector, &query);
        let off = (cosine(&query, &[0.0; 256]).expect("all is left") - plain).abs();
        assert!(
            off < 0.005 && (found - plain).abs() > 0.02,
            "{off} {found} {plain}"
        );
        assert_eq!(cosine(&query, &query), None, "nothing is left of the query");
    }
    let centred = Centred::new(&vectors[0], &mean);
    let query = Query::new(&vectors[0]);
    assert_eq!(matrix.cosines(&query, &centred, 1).expect("whole"), None);
}

#[test]
fn odd_vectors_are_zero_and_near_to_nothing() {
    let file = scratch();
    let odd = [
        vec![0.0, 0.0],
        vec![f32::NAN, 1.0],
        vec![1.0, f32::INFINITY],
        vec![f32::MIN_POSITIVE, 0.0],
        vec![1.0, 0.0],
        vec![1e30, 0.0],
    ];
    let count = written(&file.path, 2, &odd);
    let matrix = Matrix::open(&file.path, MODEL, 2, count).expect("opened");
    let cosines = |query: &[f32]| -> Vec<(u64, f32)> {
        let near = matrix
            .scan(&Query::new(query), 9, &|_| true)
            .expect("whole");
        near.iter()
            .map(|near| (near.ordinal, near.cosine.round()))
            .collect()
    };
    let found = cosines(&[1.0, 0.0]);
    assert_eq!((found[0].0, found[1], found.len()), (15, (12, 1.0), 2));
    // They would be nearer than what is far.
    let found = cosines(&[-1.0, 0.0]);
    assert_eq!((found[0], found[1].0, found.len()), ((12, -1.0), 15, 2));
    for query in [[0.0, 0.0], [f32::NAN, f32::NAN], [f32::INFINITY, 1.0]] {
        assert_eq!(cosines(&query), [(12, 0.0), (15, 0.0)]);
    }
    for ordinal in [0, 3, 6, 9] {
        let cosine = matrix.cosine(&Query::new(&[1.0, 0.0]), ordinal);
        assert_eq!(cosine.expect("whole"), Some(0.0));
    }
}

#[test]
fn pieces_make_the_same_file_and_what_is_beyond_is_written_over() {
    let mut random = Random(5);
    // More rows than are buffered before a write.
    let vectors: Vec<_> = (0..3_000).map(|_| random.unit(100)).collect();
    let (whole, pieces) = (scratch(), scratch());
    let count = written(&whole.path, 100, &vectors);
    assert_eq!(written(&pieces.path, 100, &vectors[..1_000]), 1_000);
    let mut writer = MatrixWriter::open(&pieces.path, MODEL, 100, 700).expect("opened");
    let why = unusable(writer.append(3 * 699, &vectors[0]));
    assert_eq!(why, "ordinal 2097 is given out of turn");
    for (index, vector) in vectors.iter().enumerate().skip(700) {
        writer.append(3 * index as u64, vector).expect("appended");
    }
    assert_eq!(writer.flush().expect("written"), count);
    assert_eq!(
        fs::read(&pieces.path).expect("read"),
        fs::read(&whole.path).expect("read")
    );
    // A reader keeps its mapping when the file is begun anew.
    let matrix = Matrix::open(&whole.path, MODEL, 100, count).expect("opened");
    MatrixWriter::create(&whole.path, MODEL, 100).expect("created");
    matrix.check().expect("whole");
    assert_eq!(matrix.ends().expect("whole"), Some((0, 3 * 2_999)));
    let why = unusable(Matrix::open(&whole.path, MODEL, 100, 1));
    assert_eq!(why, "it is too short");
}

#[test]
fn rows_in_memory_are_those_of_a_file() {
    let mut random = Random(6);
    let vectors: Vec<_> = (0..40).map(|_| random.unit(20)).collect();
    let (whole, pieces) = (scratch(), scratch());
    let count = written(&whole.path, 20, &vectors);
    let first = written(&pieces.path, 20, &vectors[..25]);
    let mut rest = Matrix::in_memory(MODEL, 20);
    for (index, vector) in vectors.iter().enumerate().skip(25) {
        rest.push(3 * index as u64, vector);
    }
    let file = Matrix::open(&whole.path, MODEL, 20, count).expect("opened");
    let query = Query::new(&vectors[30]);
    let found = rest.scan(&query, 1, &|_| true).expect("whole");
    assert_eq!(found, file.scan(&query, 1, &|_| true).expect("whole"));
    assert_eq!(found[0].ordinal, 90);
    let mut writer = MatrixWriter::open(&pieces.path, MODEL, 20, first).expect("opened");
    writer.append_all(&rest).expect("appended");
    let why = unusable(writer.append_all(&rest));
    assert_eq!(why, "ordinal 75 is given out of turn");
    assert_eq!(writer.flush().expect("written"), count);
    assert_eq!(
        fs::read(&pieces.path).expect("read"),
        fs::read(&whole.path).expect("read")
    );
}

#[test]
fn a_file_of_something_else_is_refused() {
    let file = scratch();
    let count = written(&file.path, 2, &[vec![1.0, 0.0]]);
    for (model, dim) in [("other", 2), (MODEL, 1), (MODEL, 3)] {
        let why = unusable(Matrix::open(&file.path, model, dim, count));
        assert_eq!(why, "its vectors are of another model");
        unusable(MatrixWriter::open(&file.path, model, dim, count));
    }
    let mut bytes = fs::read(&file.path).expect("read");
    bytes[8] = 2;
    let check = crc32c::crc32c(&bytes[..60]).to_le_bytes();
    bytes[60..64].copy_from_slice(&check);
    fs::write(&file.path, &bytes).expect("written");
    let why = unusable(Matrix::open(&file.path, MODEL, 2, count));
    assert_eq!(why, "another version of icm wrote it");
    assert!(matches!(
        Matrix::open(&file.path.with_extension("none"), MODEL, 2, 0),
        Err(VectorError::Io { .. })
    ));
}

#[test]
fn a_file_that_was_cut_or_flipped_is_refused() {
    let file = scratch();
    let vectors = [vec![0.6, 0.8], vec![0.0, 1.0], vec![-1.0, 0.0]];
    let count = written(&file.path, 2, &vectors);
    let whole = fs::read(&file.path).expect("read");
    assert_eq!(whole.len(), 64 + 3 * 18);
    for len in 0..whole.len() {
        fs::write(&file.path, &whole[..len]).expect("written");
        unusable(Matrix::open(&file.path, MODEL, 2, count));
    }
    unusable(Matrix::open(&file.path, MODEL, 2, u64::MAX));
    for bit in 0..8 * whole.len() {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file.path, &flipped).expect("written");
        let opened = Matrix::open(&file.path, MODEL, 2, count);
        assert_eq!(opened.is_err(), bit < 8 * 64, "bit {bit}");
        let Ok(matrix) = opened else { continue };
        unusable(matrix.check());
        // No answer comes from a damaged row.
        unusable(matrix.scan(&Query::new(&[1.0, 0.0]), 3, &|_| true));
    }
}

#[test]
fn rows_in_another_order_are_refused() {
    let file = scratch();
    let count = written(&file.path, 2, &[vec![0.6, 0.8], vec![0.0, 1.0]]);
    let mut bytes = fs::read(&file.path).expect("read");
    bytes[64..].rotate_left(18);
    fs::write(&file.path, &bytes).expect("written");
    let matrix = Matrix::open(&file.path, MODEL, 2, count).expect("opened");
    assert_eq!(unusable(matrix.check()), "the row of ordinal 0 is damaged");
}

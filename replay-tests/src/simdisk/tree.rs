//! The folders and names of the simulated disk, durable and unsynced.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use icm_log::disk::{DirEntry, OpenMode, Stamp};

use super::node::FileNode;
use crate::rng::Rng;

/// The identity of a file or folder; the disk never uses it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Ino(pub(super) u64);

const ROOT: Ino = Ino(1);

#[derive(Debug, Clone)]
enum Node {
    File(FileNode),
    Folder(Folder),
}

#[derive(Debug, Clone, Default)]
struct Folder {
    current: BTreeMap<String, Ino>,
    durable: BTreeMap<String, Ino>,
}

/// A step in names: what each of these names stands for from now on. A rename has two parts.
#[derive(Debug, Clone)]
struct NameOp(Vec<(Ino, String, Option<Ino>)>);

impl NameOp {
    fn touches(&self, folder: Ino) -> bool {
        self.0.iter().any(|part| part.0 == folder)
    }

    fn shares_a_name(&self, other: &NameOp) -> bool {
        self.0
            .iter()
            .any(|a| other.0.iter().any(|b| (a.0, &a.1) == (b.0, &b.1)))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: BTreeMap<Ino, Node>,
    pending: Vec<NameOp>,
}

fn fails<T>(kind: ErrorKind) -> io::Result<T> {
    Err(io::Error::from(kind))
}

fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    names
}

impl Tree {
    pub(super) fn new() -> Tree {
        Tree {
            nodes: BTreeMap::from([(ROOT, Node::Folder(Folder::default()))]),
            pending: Vec::new(),
        }
    }

    fn folder(&self, ino: Ino) -> io::Result<&Folder> {
        match self.nodes.get(&ino) {
            Some(Node::Folder(folder)) => Ok(folder),
            Some(Node::File(_)) => fails(ErrorKind::NotADirectory),
            None => fails(ErrorKind::NotFound),
        }
    }

    pub(super) fn file(&self, ino: Ino) -> io::Result<&FileNode> {
        match self.nodes.get(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => fails(ErrorKind::IsADirectory),
            None => fails(ErrorKind::NotFound),
        }
    }

    pub(super) fn file_mut(&mut self, ino: Ino) -> io::Result<&mut FileNode> {
        match self.nodes.get_mut(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder(_)) => fails(ErrorKind::IsADirectory),
            None => fails(ErrorKind::NotFound),
        }
    }

    fn walk(&self, names: &[String]) -> io::Result<Ino> {
        names.iter().try_fold(ROOT, |ino, name| {
            match self.folder(ino)?.current.get(name) {
                Some(next) => Ok(*next),
                None => fails(ErrorKind::NotFound),
            }
        })
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<Ino> {
        self.walk(&names(path))
    }

    /// Returns a stamp made from the contents, so that every change shows.
    pub(super) fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.stamp_of(self.find(path).ok()?)
    }

    pub(super) fn stamp_of(&self, ino: Ino) -> Option<Stamp> {
        let mut hasher = DefaultHasher::new();
        let len = match self.nodes.get(&ino)? {
            Node::File(file) => {
                file.current.hash(&mut hasher);
                file.current.len()
            }
            Node::Folder(folder) => {
                folder.current.hash(&mut hasher);
                folder.current.len()
            }
        };
        Some(Stamp {
            identity: ino.0,
            len: len as u64,
            changed: i128::from(hasher.finish()),
        })
    }

    /// Returns the folder that holds `path`, and the name in it.
    fn place(&self, path: &Path) -> io::Result<(Ino, String)> {
        let mut names = names(path);
        let Some(name) = names.pop() else {
            return fails(ErrorKind::IsADirectory);
        };
        let parent = self.walk(&names)?;
        self.folder(parent)?;
        Ok((parent, name))
    }

    fn add(&mut self, node: Node) -> Ino {
        let newest = self.nodes.last_key_value().map_or(ROOT, |(ino, _)| *ino);
        let ino = Ino(newest.0 + 1);
        self.nodes.insert(ino, node);
        ino
    }

    fn rename_to(&mut self, op: NameOp) {
        apply(&mut self.nodes, &op, |folder| &mut folder.current);
        self.pending.push(op);
    }

    pub(super) fn read_dir(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let folder = self.folder(self.find(dir)?)?;
        let is_dir = |ino: &Ino| matches!(self.nodes.get(ino), Some(Node::Folder(_)));
        let entries = folder.current.iter();
        Ok(entries
            .map(|(name, ino)| DirEntry {
                name: name.clone(),
                is_dir: is_dir(ino),
                is_link: false,
            })
            .collect())
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<Ino> {
        match (self.find(path), mode) {
            (Ok(_), OpenMode::CreateNew) => fails(ErrorKind::AlreadyExists),
            (Ok(ino), _) => self.file(ino).map(|_| ino),
            (Err(error), OpenMode::CreateNew | OpenMode::Create)
                if error.kind() == ErrorKind::NotFound =>
            {
                let (folder, name) = self.place(path)?;
                let ino = self.add(Node::File(FileNode::default()));
                self.rename_to(NameOp(vec![(folder, name, Some(ino))]));
                Ok(ino)
            }
            (Err(error), _) => Err(error),
        }
    }

    pub(super) fn create_dir_all(&mut self, dir: &Path) -> io::Result<()> {
        let mut ino = ROOT;
        let names = names(dir);
        for (index, name) in names.iter().enumerate() {
            match self.folder(ino)?.current.get(name) {
                Some(next) => ino = *next,
                None => {
                    let next = self.add(Node::Folder(Folder::default()));
                    self.rename_to(NameOp(vec![(ino, name.clone(), Some(next))]));
                    ino = next;
                }
            }
            if index + 1 == names.len() && self.folder(ino).is_err() {
                return fails(ErrorKind::AlreadyExists);
            }
        }
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let ino = self.find(from)?;
        let (from_folder, from_name) = self.place(from)?;
        let (to_folder, to_name) = self.place(to)?;
        if let Some(replaced) = self.folder(to_folder)?.current.get(&to_name) {
            if *replaced == ino {
                return Ok(());
            }
            self.file(*replaced)?;
        }
        self.rename_to(NameOp(vec![
            (from_folder, from_name, None),
            (to_folder, to_name, Some(ino)),
        ]));
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let ino = self.find(path)?;
        self.file(ino)?;
        let (folder, name) = self.place(path)?;
        self.rename_to(NameOp(vec![(folder, name, None)]));
        Ok(())
    }

    /// Makes every step durable that touches the folder, with earlier steps that share a name.
    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        let ino = self.find(dir)?;
        self.folder(ino)?;
        let pending = std::mem::take(&mut self.pending);
        let kept = closure(&pending, |op| op.touches(ino));
        for (op, kept) in pending.into_iter().zip(kept) {
            if kept {
                apply(&mut self.nodes, &op, |folder| &mut folder.durable);
            } else {
                self.pending.push(op);
            }
        }
        Ok(())
    }

    /// Returns the tree after a power cut: `pick` decides for each unsynced step in names whether it is durable,
    /// `bytes` returns the bytes left of a file.
    pub(super) fn after_crash(
        &self,
        mut pick: impl FnMut() -> bool,
        mut bytes: impl FnMut(&FileNode) -> Vec<u8>,
    ) -> Tree {
        let mut tree = self.clone();
        let pending = std::mem::take(&mut tree.pending);
        for (op, kept) in pending.iter().zip(closure(&pending, |_| pick())) {
            if kept {
                apply(&mut tree.nodes, op, |folder| &mut folder.durable);
            }
        }
        for node in tree.nodes.values_mut() {
            match node {
                Node::Folder(folder) => folder.current = folder.durable.clone(),
                Node::File(file) if file.is_settled() => *file = file.settled(),
                Node::File(file) => *file = FileNode::durable(Arc::new(bytes(file))),
            }
        }
        tree
    }

    pub(super) fn make_names_durable(&mut self) {
        for op in std::mem::take(&mut self.pending) {
            apply(&mut self.nodes, &op, |folder| &mut folder.durable);
        }
    }

    pub(super) fn unlock_all(&mut self) {
        for node in self.nodes.values_mut() {
            if let Node::File(file) = node {
                file.locked = false;
            }
        }
    }

    /// Returns the paths of files that have a name, from the root, sorted.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![(PathBuf::from("/"), ROOT)];
        while let Some((path, ino)) = folders.pop() {
            let Ok(folder) = self.folder(ino) else {
                continue;
            };
            for (name, ino) in &folder.current {
                match self.nodes.get(ino) {
                    Some(Node::Folder(_)) => folders.push((path.join(name), *ino)),
                    Some(Node::File(_)) => found.push(path.join(name)),
                    None => {}
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the bytes in all files that have a name.
    pub(super) fn used(&self) -> u64 {
        let inos = self.files();
        let lens = inos
            .iter()
            .filter_map(|path| self.file(self.find(path).ok()?).ok());
        lens.map(|file| file.current.len() as u64).sum()
    }

    pub(super) fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Ok(ino) = self.find(path) {
            *self.file_mut(ino)? = FileNode::durable(Arc::new(bytes.to_vec()));
            return Ok(());
        }
        let (folder, name) = self.place(path)?;
        let ino = self.add(Node::File(FileNode::durable(Arc::new(bytes.to_vec()))));
        self.durably(NameOp(vec![(folder, name, Some(ino))]));
        Ok(())
    }

    pub(super) fn take(&mut self, path: &Path) -> io::Result<()> {
        let (folder, name) = self.place(path)?;
        self.file(self.find(path)?)?;
        self.durably(NameOp(vec![(folder, name, None)]));
        Ok(())
    }

    fn durably(&mut self, op: NameOp) {
        apply(&mut self.nodes, &op, |folder| &mut folder.current);
        apply(&mut self.nodes, &op, |folder| &mut folder.durable);
    }
}

fn apply(
    nodes: &mut BTreeMap<Ino, Node>,
    op: &NameOp,
    names: impl Fn(&mut Folder) -> &mut BTreeMap<String, Ino>,
) {
    for (folder, name, stands_for) in &op.0 {
        if let Some(Node::Folder(folder)) = nodes.get_mut(folder) {
            match stands_for {
                Some(ino) => names(folder).insert(name.clone(), *ino),
                None => names(folder).remove(name),
            };
        }
    }
}

/// Returns the steps to keep: those that `wanted` chooses, and every earlier step on the same names.
fn closure(ops: &[NameOp], mut wanted: impl FnMut(&NameOp) -> bool) -> Vec<bool> {
    let mut kept: Vec<bool> = ops.iter().map(&mut wanted).collect();
    for index in (0..ops.len()).rev() {
        let needed = (index + 1..ops.len())
            .any(|later| kept[later] && ops[index].shares_a_name(&ops[later]));
        kept[index] |= needed;
    }
    kept
}

/// Keeps or drops each unsynced step by a coin.
pub(super) fn by_coin(rng: &mut Rng) -> impl FnMut() -> bool + '_ {
    move || rng.coin()
}

//! Imports point one way: no files of a crate import each other in a circle, and no folders do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Modules by their path in the crate, `a::b`, with the text of their files up to their tests.
fn modules(folder: &Path, path: &[String], all: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut module = path.to_vec();
        if file.is_dir() {
            module.push(name);
            modules(&file, &module, all);
        } else if file.extension().is_some_and(|it| it == "rs") && name != "tests" && name != "lib"
        {
            if name != "mod" {
                module.push(name);
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            all.insert(module.join("::"), code.to_owned());
        }
    }
}

/// The paths that a `use` names, its groups taken apart.
fn paths(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let group = &group[..group.rfind('}').unwrap_or(group.len())];
    let (mut depth, mut items) = (0, vec![String::new()]);
    for character in group.chars() {
        match character {
            ',' if depth == 0 => items.push(String::new()),
            _ => items.last_mut().unwrap().push(character),
        }
        depth += i32::from(character == '{') - i32::from(character == '}');
    }
    let items = items.iter().filter(|item| !item.trim().is_empty());
    let items = items.flat_map(|item| paths(item));
    items
        .map(|item| format!("{}{item}", prefix.trim()))
        .collect()
}

/// What each module imports of the others.
fn imports(all: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let of = |(module, code): (&String, &String)| {
        let uses = code
            .split("\nuse ")
            .skip(1)
            .filter_map(|rest| rest.split_once(';'));
        let paths = uses.flat_map(|(tree, _)| paths(tree));
        let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
        // `super` of a folder's own file is the folder that it is in, too.
        let found = paths.filter_map(|path| {
            let path = path.split(" as ").next()?.trim().to_owned();
            let path = match path.strip_prefix("super::") {
                Some(rest) => [parent, rest].join("::"),
                None => path.strip_prefix("crate::")?.to_owned(),
            };
            let mut path = path.trim_start_matches("::");
            while !all.contains_key(path) {
                path = path.rsplit_once("::")?.0;
            }
            (path != module).then(|| path.to_owned())
        });
        (module.clone(), found.collect())
    };
    all.iter().map(of).collect()
}

/// A circle, if there is one: what imports nothing that is left is taken away until nothing is
/// left.
fn circle(mut arrows: BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let left: BTreeSet<String> = arrows.keys().cloned().collect();
        let before = arrows.len();
        for imported in arrows.values_mut() {
            imported.retain(|module| left.contains(module));
        }
        arrows.retain(|_, imported| !imported.is_empty());
        if arrows.len() == before {
            return arrows;
        }
    }
}

/// As `arrows`, between what stands directly in the crate.
fn between_folders(
    arrows: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, BTreeSet<String>> {
    let folder = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let mut folders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, imported) in arrows {
        let from = folder(module);
        let to = imported.iter().map(|module| folder(module));
        let to: Vec<_> = to.filter(|to| *to != from).collect();
        folders.entry(from).or_default().extend(to);
    }
    folders
}

#[test]
fn imports_point_one_way() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for folder in ["engine/src", "src", "../icd/src"] {
        let mut all = BTreeMap::new();
        modules(&root.join(folder), &[], &mut all);
        let arrows = imports(&all);
        assert!(
            arrows.values().any(|imported| !imported.is_empty()),
            "{folder}"
        );
        assert_eq!(circle(arrows.clone()), BTreeMap::new(), "files of {folder}");
        assert_eq!(
            circle(between_folders(&arrows)),
            BTreeMap::new(),
            "folders of {folder}"
        );
    }
}

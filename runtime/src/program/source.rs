//! From source to SPIR-V, or to what an earlier program's source became.

use std::path::PathBuf;

use brolga_compiler::store::{Key, Store, key_of};
use brolga_opencl_c::{Device, read_file};
use serde::{Deserialize, Serialize};

use crate::code::store;
use crate::frontend::{self, Options, Output};

/// What is kept of a source that was compiled without an error.
#[derive(Serialize, Deserialize)]
struct Kept {
    words: Vec<u32>,
    log: String,
    /// The files that were looked for, and a digest of what was there.
    looked_for: Vec<(PathBuf, Option<Key>)>,
}

/// [`frontend::compile_for`], unless the same has been compiled before. Returns whether it was.
pub(super) fn compile(
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    device: &Device,
) -> (Output, bool) {
    let make = || frontend::compile_for(source, headers, options, device);
    let Some(store) = store::of_process() else {
        return (make(), false);
    };
    let modes = (
        frontend::compares(),
        brolga_compiler::dump::remarks_wanted(),
    );
    let key = key_of(&("source", source, headers, options, device, modes));
    if let Some(output) = load(&*store, &key) {
        return (output, true);
    }
    let output = make();
    save(&*store, &key, &output);
    (output, false)
}

fn load(store: &dyn Store, key: &Key) -> Option<Output> {
    let kept: Kept = postcard::from_bytes(&store.load(key)?).ok()?;
    let mut files = kept.looked_for.iter();
    let is_same = |(path, digest): &(PathBuf, Option<Key>)| {
        let found = read_file(path);
        found.map(|text| key_of(&text[..])) == *digest
    };
    files.all(is_same).then_some(Output {
        spirv: Some(kept.words),
        log: kept.log,
        looked_for: None,
    })
}

fn save(store: &dyn Store, key: &Key, output: &Output) {
    let (Some(words), Some(looked_for)) = (&output.spirv, &output.looked_for) else {
        return;
    };
    let files = looked_for.iter().map(|(path, text)| {
        let digest = text.as_ref().map(|text| key_of(&text[..]));
        (path.clone(), digest)
    });
    let kept = Kept {
        words: words.clone(),
        log: output.log.clone(),
        looked_for: files.collect(),
    };
    if let Ok(bytes) = postcard::to_stdvec(&kept) {
        store.save(key, &bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use parking_lot::Mutex;

    use super::*;
    use crate::base::features;
    use crate::frontend::options;

    #[derive(Debug, Default)]
    struct InMemory(Mutex<HashMap<Key, Vec<u8>>>);

    impl Store for InMemory {
        fn load(&self, key: &Key) -> Option<Vec<u8>> {
            self.0.lock().get(key).cloned()
        }

        fn save(&self, key: &Key, bytes: &[u8]) {
            self.0.lock().insert(*key, bytes.to_vec());
        }
    }

    /// A file that appears where it was looked for first, or changes, makes another program.
    #[test]
    fn a_source_is_what_its_files_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        for folder in [&first, &second] {
            std::fs::create_dir(folder).expect("made");
        }
        let text = format!("-I {} -I {}", first.display(), second.display());
        let options = options::parse(&text).expect("options");
        let source = "#include \"v.h\"\nkernel void k(global int *p) { *p = V; }\n";
        let device = features::for_compiler();
        let compile = || frontend::compile_for(source, &[], &options, &device);
        let (store, key) = (InMemory::default(), [0; 32]);
        let write = |folder: &PathBuf, text| std::fs::write(folder.join("v.h"), text);
        write(&second, "#define V 1\n").expect("written");
        let one = compile();
        save(&store, &key, &one);
        let kept = load(&store, &key).expect("nothing has changed");
        assert_eq!((kept.spirv, kept.log), (one.spirv.clone(), one.log));

        write(&second, "#define V 2\n").expect("written");
        assert_eq!(load(&store, &key), None, "another text");
        let two = compile();
        assert_ne!(two.spirv, one.spirv);
        save(&store, &key, &two);
        assert!(load(&store, &key).is_some());

        write(&first, "#define V 3\n").expect("written");
        assert_eq!(load(&store, &key), None, "a file that comes first");
        std::fs::remove_file(first.join("v.h")).expect("removed");
        assert!(load(&store, &key).is_some());
        std::fs::remove_file(second.join("v.h")).expect("removed");
        assert_eq!(load(&store, &key), None, "no file");
        let none = compile();
        assert_eq!(none.spirv, None);
        save(&store, &[1; 32], &none);
        assert_eq!(load(&store, &[1; 32]), None, "errors are not kept");
    }
}

//! How the library is linked. It stays mapped once loaded, since its worker threads outlive code
//! that unloads it; and it has a name of its own, by which what is linked with it finds it where
//! packages put it. The name's number changes when an application that was linked with the library
//! before would no longer run.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libbrolga.so.0");
}

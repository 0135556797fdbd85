//! Compiles the protos with protox, so that no protoc is needed on any machine, and leaves the descriptors for server
//! reflection beside the generated code.

use std::error::Error;
use std::path::PathBuf;

/// Where the protos are, as cargo starts this program in the package's folder.
const ROOT: &str = "proto";
/// Every proto, below [`ROOT`].
const FILES: [&str; 7] = [
    "tripnote/v1/contract.proto",
    "tripnote/v1/observation.proto",
    "tripnote/v1/failure.proto",
    "tripnote/v1/breaker.proto",
    "tripnote/v1/session.proto",
    "tripnote/v1/behaviour.proto",
    "tripnote/v1/operator.proto",
];
/// The file in `OUT_DIR` that holds the encoded `FileDescriptorSet`.
const DESCRIPTORS: &str = "tripnote.v1.bin";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}/build.rs");
    for file in FILES {
        println!("cargo::rerun-if-changed={ROOT}/{file}");
    }
    let mut compiler = protox::Compiler::new([ROOT])?;
    compiler.include_imports(true).include_source_info(true).open_files(FILES)?;
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: run by cargo only")?);
    std::fs::write(out_dir.join(DESCRIPTORS), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure().build_client(true).build_server(true).compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}

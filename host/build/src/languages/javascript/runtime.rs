//! The QuickJS runtime without its own imports.
//!
//! The runtime in `componentize-qjs` is linked with a C library, which imports eighteen interfaces of WASI, including
//! the file system. The engine never calls them for a tool, because the SDK provides clocks, randomness, files and
//! printing over the contract's imports. So each of these imports is replaced by a function inside the module, and a
//! component imports only what its source uses.

use std::convert::Infallible;

use anyhow::{Context as _, Result, ensure};
use wasm_encoder::reencode::{self, Reencode, utils};
use wasm_encoder::{CodeSection, Function, FunctionSection, ImportSection, Instruction, MemArg, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionSectionReader, ImportSectionReader, Parser, Payload, TypeRef,
};

use crate::cache;

/// The runtime for synchronous calls, as the pinned release of `componentize-qjs` carries it in its native module.
const RUNTIME_SHA_256: &str = "25703f010b80efb806f9c35daf9ee6524ad60320c9781b0bae4e234264f8dac5";
/// Its length in bytes.
const RUNTIME_BYTES: usize = 1_497_910;
/// The first bytes of a core module.
const MAGIC: &[u8] = b"\0asm\x01\0\0\0";

/// Finds the runtime in the native module that carries it.
///
/// # Errors
/// The native module does not contain the pinned runtime.
pub(super) fn find(native: &[u8]) -> Result<&[u8]> {
    (0..native.len())
        .filter(|&start| native[start..].starts_with(MAGIC))
        .filter_map(|start| native.get(start..start + RUNTIME_BYTES))
        .find(|module| cache::digest(module) == RUNTIME_SHA_256)
        .context("the npm package does not contain the pinned JavaScript runtime")
}

/// Returns the module without these imports.
///
/// # Errors
/// The bytes are not a module, or not like the pinned one.
pub(super) fn close(module: &[u8]) -> Result<Vec<u8>> {
    let mut closing = Closing::read(module)?;
    ensure!(!closing.closed.is_empty(), "the JavaScript runtime has no imports to replace");
    let mut closed = Module::new();
    utils::parse_core_module(&mut closing, &mut closed, Parser::new(0), module)
        .map_err(|error| anyhow::anyhow!("the JavaScript runtime cannot be parsed: {error}"))?;
    Ok(closed.finish())
}

/// Returns whether an import is replaced. The module loader is for sources that are not bundled. For it,
/// `componentize-qjs` would add a second component, and the host does not run components that call each other.
fn is_closed(module: &str) -> bool {
    module.starts_with("wasi:") || module == "wasi_snapshot_preview1" || module == "local:init/module-loader"
}

/// The behaviour of the function that replaces an import.
#[derive(Clone, Copy)]
enum ImportReplacement {
    /// Does nothing.
    Nothing,
    /// Returns zero: a time, or a handle that is never used.
    Zero,
    /// Writes this many eight-byte zeros to the address in the first argument: an empty list, or a time.
    Zeros(u64),
    /// Traps. The engine calls such an import only to print why it aborts.
    Trap,
}

/// Returns the replacement for an import. What the engine calls at startup returns a value, everything else traps.
fn answer(module: &str, name: &str) -> ImportReplacement {
    let interface = module.split('@').next().unwrap_or(module);
    match (interface, name) {
        ("wasi:clocks/wall-clock", "now") | ("wasi:random/insecure-seed", _) => ImportReplacement::Zeros(2),
        ("wasi:cli/environment", "get-environment") | ("wasi:filesystem/preopens", _) => ImportReplacement::Zeros(1),
        ("wasi:clocks/monotonic-clock", "now") => ImportReplacement::Zero,
        ("wasi_snapshot_preview1", "reset_adapter_state") => ImportReplacement::Nothing,
        (_, drop) if drop.starts_with("[resource-drop]") => ImportReplacement::Nothing,
        _ => ImportReplacement::Trap,
    }
}

impl ImportReplacement {
    fn body(self) -> Function {
        let mut body = Function::new([]);
        match self {
            ImportReplacement::Nothing => {}
            ImportReplacement::Zero => {
                body.instruction(&Instruction::I64Const(0));
            }
            ImportReplacement::Zeros(words) => {
                for word in 0..words {
                    body.instruction(&Instruction::LocalGet(0));
                    body.instruction(&Instruction::I64Const(0));
                    // A pointer and a length are aligned to four bytes at least.
                    body.instruction(&Instruction::I64Store(MemArg { offset: word * 8, align: 2, memory_index: 0 }));
                }
            }
            ImportReplacement::Trap => {
                body.instruction(&Instruction::Unreachable);
            }
        }
        body.instruction(&Instruction::End);
        body
    }
}

/// The state of rewriting a module. The replacement functions go after all other functions.
struct Closing {
    /// The type and the answer of each import that is replaced.
    closed: Vec<(u32, ImportReplacement)>,
    /// The new index of every imported function, by its old one.
    imported: Vec<u32>,
}

impl Closing {
    fn read(module: &[u8]) -> Result<Closing> {
        let (mut closed, mut kept, mut defined) = (Vec::new(), 0, 0);
        // `Err` is the number of a replaced import. Its new index follows all other functions, which are not counted
        // yet.
        let mut places = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        let import = import?;
                        let (TypeRef::Func(kind) | TypeRef::FuncExact(kind)) = import.ty else { continue };
                        if is_closed(import.module) {
                            places.push(Err(u32::try_from(closed.len())?));
                            closed.push((kind, answer(import.module, import.name)));
                        } else {
                            places.push(Ok(kept));
                            kept += 1;
                        }
                    }
                }
                Payload::FunctionSection(functions) => defined = functions.count(),
                _ => {}
            }
        }
        let imported = places.into_iter().map(|place| place.unwrap_or_else(|nth| kept + defined + nth)).collect();
        Ok(Closing { closed, imported })
    }
}

type ReplacementOutcome<T = ()> = std::result::Result<T, reencode::Error<Infallible>>;

impl Reencode for Closing {
    type Error = Infallible;

    fn function_index(&mut self, index: u32) -> ReplacementOutcome<u32> {
        // The index of a defined function shrinks by the number of removed imports, which all come before it.
        let place = usize::try_from(index).ok().and_then(|index| self.imported.get(index).copied());
        Ok(place.unwrap_or_else(|| index - u32::try_from(self.closed.len()).unwrap_or(u32::MAX)))
    }

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> ReplacementOutcome {
        for import in section.into_imports() {
            let import = import?;
            if !is_closed(import.module) {
                self.parse_import(imports, import)?;
            }
        }
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        all: FunctionSectionReader<'_>,
    ) -> ReplacementOutcome {
        utils::parse_function_section(self, functions, all)?;
        for (kind, _) in &self.closed {
            functions.function(*kind);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> ReplacementOutcome {
        utils::parse_code_section(self, code, section)?;
        // The order is that of the function section, which has their types.
        for (_, answer) in &self.closed {
            code.function(&answer.body());
        }
        Ok(())
    }

    fn parse_custom_section(&mut self, module: &mut Module, section: CustomSectionReader<'_>) -> ReplacementOutcome {
        // Drop debug names, and the description of WASI, which would bring the imports back.
        let describes_wasi = section.name().starts_with("component-type:") && section.name().contains("wasi");
        if section.name() == "name" || describes_wasi {
            return Ok(());
        }
        utils::parse_custom_section(self, module, section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{EntityType, TypeSection, ValType};

    /// A module that imports `wasi:cli/exit`, then `local:a`, and whose one function calls both.
    fn module() -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::I32], []);
        let mut imports = ImportSection::new();
        imports.import("wasi:cli/exit@0.2.0", "exit", EntityType::Function(1));
        imports.import("local:a", "a", EntityType::Function(0));
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut body = Function::new([]);
        body.instruction(&Instruction::I32Const(0));
        body.instruction(&Instruction::Call(0));
        body.instruction(&Instruction::Call(1));
        body.instruction(&Instruction::End);
        let mut code = CodeSection::new();
        code.function(&body);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&code);
        module.finish()
    }

    #[test]
    fn an_import_of_wasi_becomes_the_last_function() {
        let closed = close(&module()).unwrap();
        wasmparser::validate(&closed).unwrap();
        let mut closing = Closing::read(&module()).unwrap();
        let moved: Vec<u32> = (0..3).map(|index| closing.function_index(index).unwrap()).collect();
        assert_eq!(moved, [2, 0, 1]);
        assert!(!String::from_utf8_lossy(&closed).contains("wasi:"));
    }

    #[test]
    fn only_the_pinned_runtime_is_found() {
        assert!(find(&[b"before".as_slice(), &module(), b"after"].concat()).is_err());
    }
}

//! The supported versions of `portcullis:tool`, one module each. Only this folder uses the generated types. A plugin
//! uses one version, and the code behind it is the same for all versions.

mod bind;
mod served;

mod v0_1;
mod v0_2;

use crate::state::StoreState;
use bind::bind;
use portcullis_definitions::manifest::{self, Answer, Manifest};
use semver::Version;
use std::fmt;
use std::time::Instant;
use wasmtime::Store;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, Instance, InstancePre, Lift, Linker, Lower, TypedFunc,
};

/// A version of the contract that this host supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Contract {
    /// `portcullis:tool@0.1`.
    V0_1,
    /// `portcullis:tool@0.2`.
    V0_2,
}

impl Contract {
    /// All supported versions, the oldest first.
    pub const ALL: [Self; 2] = [Self::V0_1, Self::V0_2];

    /// Returns the version, such as `0.1`. It includes all compatible releases.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0_1 => "0.1",
            Self::V0_2 => "0.2",
        }
    }

    /// Returns the release that the host provides.
    pub(crate) fn version(self) -> Version {
        match self {
            Self::V0_1 => Version::new(0, 1, 0),
            Self::V0_2 => Version::new(0, 2, 0),
        }
    }

    /// Returns the export that makes a component a plugin of this version.
    fn handler(self) -> &'static str {
        match self {
            Self::V0_1 => "portcullis:tool/handler@0.1.0",
            Self::V0_2 => "portcullis:tool/handler@0.2.0",
        }
    }

    /// Returns the export of a plugin that reviews its calls.
    fn reviewer(self) -> &'static str {
        match self {
            Self::V0_1 => "portcullis:tool/reviewer@0.1.0",
            Self::V0_2 => "portcullis:tool/reviewer@0.2.0",
        }
    }

    /// Returns the export of a plugin that computes what its calls would change, if this version has it.
    pub(crate) fn previewer(self) -> Option<&'static str> {
        match self {
            Self::V0_1 => None,
            Self::V0_2 => Some("portcullis:tool/previewer@0.2.0"),
        }
    }

    /// Returns the export of a plugin that makes tools from its settings and its directories, if this version has it.
    pub(crate) fn generator(self) -> Option<&'static str> {
        match self {
            Self::V0_1 => None,
            Self::V0_2 => Some("portcullis:tool/generator@0.2.0"),
        }
    }

    /// Returns the export of a plugin that offers some callers less of its tools, if this version has it.
    pub(crate) fn preparer(self) -> Option<&'static str> {
        match self {
            Self::V0_1 => None,
            Self::V0_2 => Some("portcullis:tool/preparer@0.2.0"),
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Adds the interfaces of every version to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    v0_1::add_to_linker(linker)?;
    v0_2::add_to_linker(linker)?;
    v0_2::add_programs_to_linker(linker)?;
    v0_2::add_tools_to_linker(linker)
}

/// A linked plugin, whose exports have the types of its version of the contract.
pub(crate) struct LinkedPlugin {
    handler: Handler,
    review: Option<ComponentExportIndex>,
    preview: Option<ComponentExportIndex>,
    generate: Option<ComponentExportIndex>,
    prepare: Option<ComponentExportIndex>,
}

enum Handler {
    V0_1(v0_1::Plugin),
    V0_2(v0_2::Plugin),
}

impl LinkedPlugin {
    /// Links a component as a plugin of the one version whose handler it exports.
    ///
    /// # Errors
    /// It exports no handler or several, or an import or export does not have the type of that version.
    pub(crate) fn link(component: &Component, linker: &Linker<StoreState>) -> wasmtime::Result<Self> {
        let exports = |name| component.get_export_index(None, name);
        let mut spoken = Contract::ALL.into_iter().filter(|contract| exports(contract.handler()).is_some());
        let (Some(contract), None) = (spoken.next(), spoken.next()) else {
            return Err(wasmtime::Error::msg("it must export exactly one handler, of one version"));
        };
        // `check_component` has compared names. The types of the imports are compared only here.
        let instance = linker.instantiate_pre(component)?;
        let review = match exports(contract.reviewer()) {
            Some(_) => Some(match contract {
                Contract::V0_1 => find::<(&str, &str), v0_1::Reviewed>(&instance, contract.reviewer(), "review")?,
                Contract::V0_2 => find::<(&str, &str), v0_2::Reviewed>(&instance, contract.reviewer(), "review")?,
            }),
            None => None,
        };
        let preview = match contract.previewer().filter(|interface| exports(interface).is_some()) {
            Some(interface) => Some(find::<(&str, &str), v0_2::Previewed>(&instance, interface, "preview")?),
            None => None,
        };
        let generate = match contract.generator().filter(|interface| exports(interface).is_some()) {
            Some(interface) => Some(find::<(), v0_2::Generated>(&instance, interface, "generate")?),
            None => None,
        };
        let prepare = match contract.preparer().filter(|interface| exports(interface).is_some()) {
            Some(interface) => Some(find::<(v0_2::Caller,), v0_2::Prepared>(&instance, interface, "prepare")?),
            None => None,
        };
        let handler = match contract {
            Contract::V0_1 => Handler::V0_1(v0_1::Plugin::new(instance, contract)?),
            Contract::V0_2 => Handler::V0_2(v0_2::Plugin::new(instance, contract)?),
        };
        Ok(Self { handler, review, preview, generate, prepare })
    }

    /// Returns the plugin's version of the contract.
    pub(crate) fn contract(&self) -> Contract {
        match self.handler {
            Handler::V0_1(_) => Contract::V0_1,
            Handler::V0_2(_) => Contract::V0_2,
        }
    }

    /// Returns whether the plugin reviews its calls.
    pub(crate) fn reviews(&self) -> bool {
        self.review.is_some()
    }

    /// Returns whether the plugin computes what its calls would change in files.
    pub(crate) fn previews(&self) -> bool {
        self.preview.is_some()
    }

    /// Returns whether the plugin makes tools from its settings and its directories.
    pub(crate) fn generates(&self) -> bool {
        self.generate.is_some()
    }

    /// Returns whether the plugin offers some callers less of its tools.
    pub(crate) fn prepares(&self) -> bool {
        self.prepare.is_some()
    }

    /// Returns two descriptions by one instance.
    pub(crate) async fn describe(&self, store: &mut Store<StoreState>) -> wasmtime::Result<(Manifest, Manifest)> {
        match &self.handler {
            Handler::V0_1(plugin) => plugin.describe(store).await,
            Handler::V0_2(plugin) => plugin.describe(store).await,
        }
    }

    /// Executes a call in the instance of an earlier call, or in a new one, which is left in `instance`.
    pub(crate) async fn execute(
        &self,
        store: &mut Store<StoreState>,
        instance: &mut Option<Instance>,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<Answer> {
        let running = match *instance {
            Some(instance) => instance,
            None => *instance.insert(self.instance().instantiate_async(&mut *store).await?),
        };
        store.data_mut().instantiated = Some(Instant::now());
        match &self.handler {
            Handler::V0_1(plugin) => plugin.execute(store, running, tool, arguments).await,
            Handler::V0_2(plugin) => plugin.execute(store, running, tool, arguments).await,
        }
    }

    /// Returns the plugin's verdict on a call. It is `Clear` if the plugin exports no reviewer.
    pub(crate) async fn review(
        &self,
        store: &mut Store<StoreState>,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<manifest::Verdict> {
        let Some(review) = &self.review else { return Ok(manifest::Verdict::Clear) };
        Ok(match &self.handler {
            Handler::V0_1(_) => self.call::<v0_1::Reviewed>(store, review, tool, arguments).await?.0.into(),
            Handler::V0_2(_) => self.call::<v0_2::Reviewed>(store, review, tool, arguments).await?.0.into(),
        })
    }

    /// Returns what a call would change, as the plugin computes. It is empty if the plugin exports no previewer.
    pub(crate) async fn preview(
        &self,
        store: &mut Store<StoreState>,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<manifest::Preview> {
        let Some(preview) = &self.preview else { return Ok(Ok(Vec::new())) };
        let (previewed,) = self.call::<v0_2::Previewed>(store, preview, tool, arguments).await?;
        Ok(previewed.map(|changes| changes.into_iter().map(Into::into).collect()).map_err(Into::into))
    }

    /// Returns the tools that the plugin makes. There are none if the plugin exports no generator.
    pub(crate) async fn generate(&self, store: &mut Store<StoreState>) -> wasmtime::Result<manifest::Generated> {
        let Some(generate) = &self.generate else { return Ok(Ok(Vec::new())) };
        let instance = self.instance().instantiate_async(&mut *store).await?;
        let function: TypedFunc<(), v0_2::Generated> = instance.get_typed_func(&mut *store, generate)?;
        let (generated,) = function.call_async(&mut *store, ()).await?;
        Ok(generated.map(|definitions| definitions.into_iter().map(Into::into).collect()))
    }

    /// Returns the tools that a caller is not offered whole. There are none if the plugin exports no preparer.
    pub(crate) async fn prepare(
        &self,
        store: &mut Store<StoreState>,
        caller: &manifest::ToolCaller,
    ) -> wasmtime::Result<Vec<manifest::Preparation>> {
        let Some(prepare) = &self.prepare else { return Ok(Vec::new()) };
        let instance = self.instance().instantiate_async(&mut *store).await?;
        let function: TypedFunc<(v0_2::Caller,), v0_2::Prepared> = instance.get_typed_func(&mut *store, prepare)?;
        let (prepared,) = function.call_async(&mut *store, (caller.into(),)).await?;
        Ok(prepared.into_iter().map(Into::into).collect())
    }

    /// Calls an optional export about a call in a new instance.
    async fn call<Return>(
        &self,
        store: &mut Store<StoreState>,
        export: &ComponentExportIndex,
        tool: &str,
        arguments: &str,
    ) -> wasmtime::Result<Return>
    where
        Return: ComponentNamedList + Lift + Send + Sync + 'static,
    {
        let instance = self.instance().instantiate_async(&mut *store).await?;
        let function: TypedFunc<(&str, &str), Return> = instance.get_typed_func(&mut *store, export)?;
        function.call_async(&mut *store, (tool, arguments)).await
    }

    fn instance(&self) -> &InstancePre<StoreState> {
        match &self.handler {
            Handler::V0_1(plugin) => plugin.instance(),
            Handler::V0_2(plugin) => plugin.instance(),
        }
    }
}

/// Finds a function in an exported interface, and checks its types. The generated bindings would check them only at the
/// first call.
fn find<Params, Return>(
    instance: &InstancePre<StoreState>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<ComponentExportIndex>
where
    Params: ComponentNamedList + Lower,
    Return: ComponentNamedList + Lift,
{
    let component = instance.component();
    let found = component
        .get_export(None, interface)
        .and_then(|(_, interface)| component.get_export(Some(&interface), function));
    let Some((ComponentItem::ComponentFunc(found), index)) = found else {
        return Err(wasmtime::Error::msg(format!("{interface} has no function {function}")));
    };
    let typed = found.typecheck::<Params, Return>(&instance.instance_type());
    typed.map_err(|error| error.context(format!("{function} of {interface} has the wrong types")))?;
    Ok(index)
}

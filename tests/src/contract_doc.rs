//! The contract's reference, docs/contract.md, written from `wit/`: every interface, type and function with what its doc
//! comment says. A person reads that file; this module is the only one that writes it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wit_parser::{
    Docs, Function, FunctionKind, Handle, Interface, InterfaceId, Resolve, Type, TypeDef, TypeDefKind, TypeId, World,
    WorldItem,
};

/// The world that holds every stage and every capability.
const WHOLE: &str = "policy";

/// A parsed contract.
pub struct Contract {
    resolve: Resolve,
    package: wit_parser::PackageId,
}

/// The folder of the contract's version that is in work.
pub fn wit() -> PathBuf {
    crate::component::workspace().join("wit/v0.2.0")
}

/// Where the reference is committed.
pub fn committed() -> PathBuf {
    crate::component::workspace().join("docs/contract.md")
}

impl Contract {
    /// Parses the WIT files of a folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(folder).with_context(|| format!("{} is no package", folder.display()))?;
        Ok(Self { resolve, package })
    }

    fn package(&self) -> &wit_parser::Package {
        &self.resolve.packages[self.package]
    }

    fn world(&self, name: &str) -> Result<&World> {
        let id = self.package().worlds.get(name).with_context(|| format!("there is no world {name}"))?;
        Ok(&self.resolve.worlds[*id])
    }

    /// The interfaces of this package among a world's imports or exports, in their order.
    fn interfaces<'a>(&'a self, items: impl Iterator<Item = &'a WorldItem>) -> Vec<&'a Interface> {
        items
            .filter_map(|item| match item {
                WorldItem::Interface { id, .. } => Some(*id),
                _ => None,
            })
            .filter(|id| self.resolve.interfaces[*id].package == Some(self.package))
            .map(|id| &self.resolve.interfaces[id])
            .collect()
    }

    /// Interfaces without functions: the words that the others share.
    fn shared(&self) -> Vec<&Interface> {
        self.package()
            .interfaces
            .values()
            .map(|id| &self.resolve.interfaces[*id])
            .filter(|interface| interface.functions.is_empty() && !self.has_resource(interface))
            .collect()
    }

    fn has_resource(&self, interface: &Interface) -> bool {
        interface.types.values().any(|id| matches!(self.resolve.types[*id].kind, TypeDefKind::Resource))
    }

    /// The whole reference as Markdown.
    pub fn reference(&self) -> Result<String> {
        let mut page = Page::default();
        page.text.push_str(
            "<!-- Written from wit/ by a test. Do not edit: `UPDATE=1 cargo test -p tests --test it references::`. -->\n\n",
        );
        page.heading(1, &format!("The contract `{}`", self.package().name));
        page.docs(&self.package().docs);
        let whole = self.world(WHOLE)?;
        let stages = self.interfaces(whole.exports.values());
        let capabilities: Vec<&Interface> = self
            .interfaces(whole.imports.values())
            .into_iter()
            .filter(|interface| !self.shared().iter().any(|shared| shared.name == interface.name))
            .collect();
        for (title, about, interfaces) in [
            ("Stages", "What a policy may export; any set of them.", stages),
            ("Capabilities", "What a policy may import; it gets what it asks for and is granted.", capabilities),
            ("Shared words", "Types that stages and capabilities have in common.", self.shared()),
        ] {
            page.heading(2, title);
            page.paragraph(about);
            for interface in interfaces {
                self.interface(&mut page, interface);
            }
        }
        page.heading(2, "Worlds");
        for id in self.package().worlds.values() {
            self.world_summary(&mut page, &self.resolve.worlds[*id]);
        }
        Ok(page.finish())
    }

    fn interface(&self, page: &mut Page, interface: &Interface) {
        page.heading(3, &format!("`{}`", name(interface)));
        page.docs(&interface.docs);
        let used: Vec<String> = interface.types.values().filter_map(|id| self.used(*id)).collect();
        if !used.is_empty() {
            page.paragraph(&format!("Uses {}.", used.join(", ")));
        }
        for function in interface.functions.values().filter(|function| function.kind == FunctionKind::Freestanding) {
            self.function(page, function, &function.name);
        }
        for id in interface.types.values().filter(|id| self.used(**id).is_none()) {
            self.definition(page, interface, *id);
        }
    }

    fn function(&self, page: &mut Page, function: &Function, name: &str) {
        let is_method = matches!(function.kind, FunctionKind::Method(_));
        let parameters: Vec<String> = function
            .params
            .iter()
            .skip(usize::from(is_method))
            .map(|parameter| format!("{}: {}", parameter.name, self.type_name(&parameter.ty)))
            .collect();
        let result = function.result.map(|result| format!(" -> {}", self.type_name(&result))).unwrap_or_default();
        page.heading(4, &format!("`{name}`"));
        page.code(&format!("{name}: func({}){result}", parameters.join(", ")));
        page.docs(&function.docs);
    }

    fn definition(&self, page: &mut Page, interface: &Interface, id: TypeId) {
        let definition = &self.resolve.types[id];
        let name = definition.name.as_deref().unwrap_or_default();
        page.heading(4, &format!("{} `{name}`", kind(definition)));
        if let TypeDefKind::Type(target) = &definition.kind {
            page.code(&format!("type {name} = {}", self.type_name(target)));
        } else if !matches!(definition.kind, TypeDefKind::Resource) && members(definition).is_empty() {
            page.code(&format!("type {name} = {}", self.anonymous(definition)));
        }
        page.docs(&definition.docs);
        for member in members(definition) {
            let of = member.ty.map(|ty| format!(": {}", self.type_name(&ty))).unwrap_or_default();
            let says = member.docs.contents.as_deref().map(str::trim).unwrap_or_default();
            page.member(&format!("{}{of}", member.name), says);
        }
        page.blank();
        for function in interface.functions.values() {
            if function.kind == FunctionKind::Method(id) {
                self.function(page, function, function.item_name());
            }
        }
    }

    fn world_summary(&self, page: &mut Page, world: &World) {
        page.heading(3, &format!("`{}`", world.name));
        page.docs(&world.docs);
        for (word, items) in [("Imports", &world.imports), ("Exports", &world.exports)] {
            let names: Vec<String> =
                self.interfaces(items.values()).iter().map(|interface| format!("`{}`", name(interface))).collect();
            page.paragraph(&format!("{word} {}.", names.join(", ")));
        }
    }

    /// Where the type is only another interface's, under its own name: that interface and the name.
    fn used(&self, id: TypeId) -> Option<String> {
        let definition = &self.resolve.types[id];
        let TypeDefKind::Type(Type::Id(target)) = definition.kind else { return None };
        let target = &self.resolve.types[target];
        let of = owner(target)?;
        (owner(definition) != Some(of) && target.name == definition.name)
            .then(|| format!("`{}.{}`", name(&self.resolve.interfaces[of]), target.name.as_deref().unwrap_or_default()))
    }

    fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".into(),
            Type::U8 => "u8".into(),
            Type::U16 => "u16".into(),
            Type::U32 => "u32".into(),
            Type::U64 => "u64".into(),
            Type::S8 => "s8".into(),
            Type::S16 => "s16".into(),
            Type::S32 => "s32".into(),
            Type::S64 => "s64".into(),
            Type::F32 => "f32".into(),
            Type::F64 => "f64".into(),
            Type::Char => "char".into(),
            Type::String => "string".into(),
            Type::ErrorContext => "error-context".into(),
            Type::Id(id) => {
                let definition = &self.resolve.types[*id];
                definition.name.clone().unwrap_or_else(|| self.anonymous(definition))
            }
        }
    }

    fn anonymous(&self, definition: &TypeDef) -> String {
        let optional = |ty: &Option<Type>| ty.map_or_else(|| "_".into(), |ty| self.type_name(&ty));
        match &definition.kind {
            TypeDefKind::Option(ty) => format!("option<{}>", self.type_name(ty)),
            TypeDefKind::List(ty) => format!("list<{}>", self.type_name(ty)),
            TypeDefKind::Tuple(tuple) => {
                let types: Vec<String> = tuple.types.iter().map(|ty| self.type_name(ty)).collect();
                format!("tuple<{}>", types.join(", "))
            }
            TypeDefKind::Result(result) => format!("result<{}, {}>", optional(&result.ok), optional(&result.err)),
            TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", self.type_name(&Type::Id(*id))),
            TypeDefKind::Handle(Handle::Own(id)) | TypeDefKind::Type(Type::Id(id)) => self.type_name(&Type::Id(*id)),
            other => other.as_str().into(),
        }
    }

    /// Everything without a doc comment, as `interface.item` or `interface.item.member`.
    pub fn undocumented(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let mut ask = |docs: &Docs, path: String| {
            if docs.contents.as_deref().is_none_or(|text| text.trim().is_empty()) {
                missing.push(path);
            }
        };
        ask(&self.package().docs, self.package().name.to_string());
        for id in self.package().worlds.values() {
            let world = &self.resolve.worlds[*id];
            ask(&world.docs, world.name.clone());
        }
        for id in self.package().interfaces.values() {
            let interface = &self.resolve.interfaces[*id];
            let place = name(interface);
            ask(&interface.docs, place.to_owned());
            for function in interface.functions.values() {
                ask(&function.docs, format!("{place}.{}", function.item_name()));
            }
            for id in interface.types.values().filter(|id| self.used(**id).is_none()) {
                let definition = &self.resolve.types[*id];
                let path = format!("{place}.{}", definition.name.as_deref().unwrap_or_default());
                ask(&definition.docs, path.clone());
                for member in members(definition) {
                    ask(member.docs, format!("{path}.{}", member.name));
                }
            }
        }
        missing
    }
}

fn name(interface: &Interface) -> &str {
    interface.name.as_deref().unwrap_or_default()
}

fn owner(definition: &TypeDef) -> Option<InterfaceId> {
    match definition.owner {
        wit_parser::TypeOwner::Interface(id) => Some(id),
        _ => None,
    }
}

fn kind(definition: &TypeDef) -> &'static str {
    match &definition.kind {
        TypeDefKind::Record(_) => "record",
        TypeDefKind::Resource => "resource",
        TypeDefKind::Variant(_) => "variant",
        TypeDefKind::Enum(_) => "enum",
        TypeDefKind::Flags(_) => "flags",
        _ => "type",
    }
}

/// A record's field, or a case of a variant, an enumeration or flags.
struct Member<'a> {
    name: &'a str,
    ty: Option<Type>,
    docs: &'a Docs,
}

fn members(definition: &TypeDef) -> Vec<Member<'_>> {
    match &definition.kind {
        TypeDefKind::Record(record) => {
            record.fields.iter().map(|field| Member { name: &field.name, ty: Some(field.ty), docs: &field.docs }).collect()
        }
        TypeDefKind::Variant(variant) => {
            variant.cases.iter().map(|case| Member { name: &case.name, ty: case.ty, docs: &case.docs }).collect()
        }
        TypeDefKind::Enum(cases) => {
            cases.cases.iter().map(|case| Member { name: &case.name, ty: None, docs: &case.docs }).collect()
        }
        TypeDefKind::Flags(flags) => {
            flags.flags.iter().map(|flag| Member { name: &flag.name, ty: None, docs: &flag.docs }).collect()
        }
        _ => Vec::new(),
    }
}

/// A Markdown page that grows: blocks with one blank line between them.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn heading(&mut self, level: usize, title: &str) {
        self.paragraph(&format!("{} {title}", "#".repeat(level)));
    }

    fn paragraph(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push_str("\n\n");
    }

    fn code(&mut self, text: &str) {
        self.paragraph(&format!("```wit\n{text}\n```"));
    }

    /// What a doc comment says.
    fn docs(&mut self, docs: &Docs) {
        if let Some(text) = docs.contents.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            self.paragraph(text);
        }
    }

    /// A list entry: the declaration and its documentation, with further lines indented.
    fn member(&mut self, declaration: &str, says: &str) {
        let _ = write!(self.text, "- `{declaration}`");
        for (number, line) in says.lines().enumerate() {
            let before = if number == 0 && !line.starts_with("- ") { ": " } else { "\n  " };
            self.text.push_str(before);
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    fn blank(&mut self) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn finish(self) -> String {
        format!("{}\n", self.text.trim_end())
    }
}

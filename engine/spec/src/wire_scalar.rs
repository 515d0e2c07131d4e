//! Single values of the wire format, as the JSON Schema describes them.

use crate::words::{self, names};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

macro_rules! scalars {
    ($($name:ident $title:literal = $schema:expr;)*) => {$(
        pub(crate) struct $name;
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema: Schema = or_variable($schema).try_into().unwrap_or_default();
                schema.insert("title".into(), $title.into());
                schema
            }
        }
    )*};
}

/// `90s`, `10m`, `1h30m`, `1d`.
const SPAN: &str = "^([0-9]{1,9}[dhms])+$";
/// `25%`, with up to four digits after the point, 100 % at most.
const SHARE: &str = r"^(100(\.0+)?|[0-9]{1,2}(\.[0-9]{1,4})?) ?%$";

/// A value, or text with a variable in it. Text of any kind and fixed words need no such choice.
fn or_variable(schema: Value) -> Value {
    let is_open = schema.get("pattern").is_none() && schema["type"].is_array();
    if is_open || schema.get("const").is_some() || schema["type"] == "object" {
        return schema;
    }
    let variable = json!({ "type": "string", "pattern": VARIABLE });
    match schema {
        Value::Object(mut fields) if fields.contains_key("anyOf") => {
            if let Some(Value::Array(options)) = fields.get_mut("anyOf") {
                options.push(variable);
            }
            Value::Object(fields)
        }
        schema => json!({ "anyOf": [schema, variable] }),
    }
}

/// `${NAME}` somewhere in a text.
const VARIABLE: &str = r"\$\{[A-Za-z_][A-Za-z0-9_]*\}";

fn word(names: Vec<&'static str>) -> Value {
    json!({ "type": "string", "enum": names })
}

fn text() -> Value {
    // The reader keeps numbers and flags as they were written, so labels need no quotes.
    json!({ "type": ["string", "number", "boolean"] })
}

scalars! {
    ApiVersion "version" = json!({ "const": words::API_VERSION });
    FleetKind "kind" = json!({ "const": "Fleet" });
    DefaultsKind "kind" = json!({ "const": "Defaults" });
    PolicyKind "kind" = json!({ "const": "Policy" });
    Variables "mapping from name to default" = json!({
        "type": "object",
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$" },
        "additionalProperties": { "not": { "type": ["object", "array"] } },
    });
    Name "name" = json!({ "type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" });
    Text "text" = text();
    Glob "name or pattern" = json!({
        "type": ["string", "number"], "maxLength": 128, "pattern": "^[A-Za-z0-9*?_.:+-]+$",
    });
    Flag "true or false" = json!({ "type": "boolean" });
    Moment "day or moment" = json!({
        "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].+)?$",
    });
    Span "span of time" = json!({ "type": "string", "pattern": SPAN });
    Whole "whole number" = json!({ "type": "integer", "minimum": 0 });
    PositiveWhole "whole number" = json!({ "type": "integer", "minimum": 1 });
    Positive "number" = json!({ "type": "number", "exclusiveMinimum": 0 });
    Amount "number" = json!({ "type": "number", "minimum": 0 });
    ShareText "share" = json!({ "type": "string", "pattern": SHARE });
    AmountOrShare "number or share" = json!({ "anyOf": [
        { "type": "number", "minimum": 0 }, { "type": "string", "pattern": SHARE },
    ] });
    Usd "dollars" = json!({ "type": "number", "exclusiveMinimum": 0 });
    UsdOrShare "dollars or share" = json!({ "anyOf": [
        { "type": "number", "exclusiveMinimum": 0 }, { "type": "string", "pattern": SHARE },
    ] });
    Labels "mapping from name to text" = json!({ "type": "object", "additionalProperties": text() });
    RequiredLabels "list of names, or mapping from name to pattern" = json!({ "anyOf": [
        { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        { "type": "object", "additionalProperties": text(), "minProperties": 1 },
    ] });
    UnitWord "unit" = word(names(words::UNITS));
    Provider "cloud" = word(names(words::CLOUDS));
    StrategyWord "strategy" = word(names(words::STRATEGIES));
    TogetherWord "word" = word(names(words::TOGETHER));
    FulfilmentWord "word" = word(names(words::FULFILMENTS));
    SignalWord "signal" = word(names(words::SIGNALS));
    Arch "instruction set" = word(names(words::ARCHITECTURES));
    AcceleratorMaker "maker" = word(names(words::MAKERS));
    LocalDiskWord "word" = word(names(words::LOCAL_DISK));
    AtCapWord "word" = word(names(words::AT_CAP));
    UpdateStrategy "word" = word(names(words::UPDATE_STRATEGIES));
    OnNotice "word" = word(names(words::ON_NOTICE));
    OnRebalance "word" = word(names(words::ON_REBALANCE));
    NotifyEventWord "word" = word(names(words::NOTIFY_EVENTS));
    NotifyFormatWord "word" = word(names(words::NOTIFY_FORMATS));
    AddressWord "word" = word(names(words::ADDRESSES));
}

/// A list, or the word `any`.
pub(crate) struct AnyOr<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for AnyOr<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("AnyOr{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [
            { "const": "any" },
            { "type": "array", "items": items, "minItems": 1 },
        ] })
    }
}

/// One value for all clouds, or one per cloud.
pub(crate) struct PerCloud<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for PerCloud<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("PerCloud{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let each = names(words::CLOUDS).into_iter().map(|name| (name.to_owned(), json!(one)));
        let clouds: serde_json::Map<String, Value> = each.collect();
        json_schema!({ "anyOf": [
            one,
            {
                "type": "object",
                "properties": clouds,
                "additionalProperties": false,
                "minProperties": 1,
            },
        ] })
    }
}

//! Descriptions as Prism can use them.

use serde_json::{Value, json};
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Lambda's description, as it is.
pub fn lambda(descriptions: &Path) -> PathBuf {
    descriptions.join("lambda").join("openapi-1.8.3.json")
}

/// Files of Microsoft's that machines, sizes and limits are described in.
const FILES: &[&str] = &[
    "ComputeRP/stable/2023-07-01/virtualMachine.json",
    "ComputeRP/stable/2023-07-01/computeRPCommon.json",
    "ComputeRP/stable/2023-07-01/virtualMachineScaleSet.json",
    "Skus/stable/2021-07-01/skus.json",
    "common-types/v1/common.json",
    "ComputeRP/stable/2023-07-01/virtualMachineImage.json",
];

/// The others whose paths are added to the first.
const MORE: &[(&str, &str)] = &[
    (FILES[3], "../../../Skus/stable/2021-07-01/skus.json"),
    (FILES[1], "./computeRPCommon.json"),
    (FILES[5], "./virtualMachineImage.json"),
];

/// Writes Microsoft's descriptions into a folder as one, without lists of values that Microsoft
/// itself calls open: they would refuse every new size. Says where it is.
pub fn azure(descriptions: &Path, into: &Path) -> Result<PathBuf> {
    let from = descriptions.join("azure/specification/compute/resource-manager/Microsoft.Compute");
    for file in FILES {
        let mut description = read(&from.join(file))?;
        open_values(&mut description);
        write(&into.join(file), &description)?;
    }
    let mut all = read(&into.join(FILES[0]))?;
    for (file, reference) in MORE {
        let mut more = read(&into.join(file))?;
        refer(&mut more["paths"], reference);
        let paths = more["paths"].as_object().cloned().unwrap_or_default();
        if let Some(known) = all["paths"].as_object_mut() {
            known.extend(paths);
        }
    }
    let file = into.join("ComputeRP/stable/2023-07-01/all.json");
    write(&file, &all)?;
    Ok(file)
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read(file)?;
    serde_json::from_slice(&text).map_err(|why| Error::new(ErrorKind::InvalidData, why))
}

fn write(file: &Path, description: &Value) -> Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, description.to_string())
}

/// Drops examples, which lie in files of their own, and values of open lists.
fn open_values(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("x-ms-examples");
            if map.get("x-ms-enum").is_some_and(|of| of["modelAsString"] == json!(true)) {
                map.remove("enum");
            }
            map.values_mut().for_each(open_values);
        }
        Value::Array(all) => all.iter_mut().for_each(open_values),
        _ => {}
    }
}

/// Makes references within a file references to that file.
fn refer(value: &mut Value, file: &str) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get_mut("$ref")
                && target.starts_with('#')
            {
                *target = format!("{file}{target}");
            }
            map.values_mut().for_each(|inner| refer(inner, file));
        }
        Value::Array(all) => all.iter_mut().for_each(|inner| refer(inner, file)),
        _ => {}
    }
}

//! Devices with layout and background tasks as values: TOML, and further overrides.

use crate::replay::TraceFiles;
use sledsim_base::error::Result;
use sledsim_base::keys::Keys;
use sledsim_base::progress::Progress;
use sledsim_core::catalog::{Device, Override};
use sledsim_core::devices::mems::parallel::free_bandwidth::TaskSpec;
use sledsim_core::layouts::ResolvedLayout;

/// A device with its layout and background tasks as self-contained TOML. `sha256` is
/// the digest of the trace that the layout was read from, to be kept with it.
pub fn device_to_toml(device: &Device, sha256: Option<&str>) -> Result<String> {
    let mut keys = device.keys();
    if let Some(sha256) = sha256 {
        keys.set("layout.trace.sha256", sha256.into(), "layout")?;
    }
    Ok(keys.to_toml("base"))
}

/// Reads a device called `name` from TOML, as [`device_to_toml`] writes it; `check` is
/// called now and then while a layout reads a trace, and its error ends that. The
/// caller compares the content of the trace.
///
/// # Errors
/// An invalid key, or one of the trace.
pub fn device_from_toml(
    name: &str,
    text: &str,
    traces: &TraceFiles<'_>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Device> {
    let mut keys = Keys::parse(text, &format!("{name}.toml"))?;
    let mut layout = keys.take_table("layout");
    if let Some(layout) = &mut layout {
        layout.forget("trace.sha256");
    }
    let tasks = keys.take_tables("background")?.into_iter();
    let tasks = tasks.map(TaskSpec::read).collect::<Result<Vec<_>>>()?;
    let device = Device::from_named_keys(name, keys)?;
    completed(device, layout, &tasks, traces, check)
}

/// The same device with other values of some keys; its layout, if it has one, is read
/// again.
pub fn device_with(
    device: &Device,
    overrides: &[Override],
    traces: &TraceFiles<'_>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Device> {
    let layout = device.layout().map(|layout| layout.keys().clone());
    let changed = device.with_overrides(overrides)?;
    completed(changed, layout, device.background(), traces, check)
}

/// The device with a layout, if there are keys of one, and background tasks.
pub(crate) fn completed(
    mut device: Device,
    layout: Option<Keys>,
    tasks: &[TaskSpec],
    traces: &TraceFiles<'_>,
    check: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Device> {
    if let Some(layout) = layout {
        let laid = ResolvedLayout::read(layout, &mut device.site(traces, check))?;
        device = device.with_layout(laid);
    }
    device.with_background(tasks)
}

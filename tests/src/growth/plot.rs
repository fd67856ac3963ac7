//! How something grows with a store, as a picture: an SVG without fonts, scripts or anything from elsewhere that follows the
//! reader's light or dark setting. The same figures give the same bytes.

use std::fmt::Write as _;

/// A curve: its name, and milliseconds at sizes in memories.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Stands beside its end.
    pub name: String,
    /// Sizes and milliseconds, the smallest size first.
    pub points: Vec<(f64, f64)>,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Which of the two colours.
    pub second: bool,
}

/// The picture's size, and the room around the field of the curves; pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 214.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 48.0;

/// The least distance between two names at the curves' ends.
const APART: f64 = 17.0;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2328}.t{font-weight:600;font-size:14px}.m{fill:#59636e}\
.g{stroke:#d1d9e0;stroke-width:1}.l{fill:none;stroke-width:2;stroke-linejoin:round}.d{stroke-dasharray:6 4}\
.a{stroke:#0969da}.b{stroke:#bc4c00}.fa{fill:#0969da}.fb{fill:#bc4c00}.p{fill:#ffffff}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}.g{stroke:#3d444d}.a{stroke:#4493f8}.b{stroke:#f0883e}\
.fa{fill:#4493f8}.fb{fill:#f0883e}.p{fill:#0d1117}}";

/// The picture of the curves, with sizes on a logarithmic scale, which `axis` names.
pub fn svg(title: &str, axis: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let least = points().map(|point| point.0).fold(f64::INFINITY, f64::min).max(1.0).log10().floor();
    let most = points().map(|point| point.0).fold(10.0, f64::max).log10().ceil().max(least + 1.0);
    let (top, step) = scale(points().map(|point| point.1).fold(1.0, f64::max));
    let x = |size: f64| LEFT + (size.log10() - least) / (most - least) * (WIDTH - LEFT - RIGHT);
    let y = |time: f64| HEIGHT - BOTTOM - time / top * (HEIGHT - TOP - BOTTOM);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         role=\"img\" aria-label=\"{title}\">\n<style>{STYLE}</style>\n<rect class=\"p\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/>\n\
         <text class=\"t\" x=\"{LEFT}\" y=\"24\">{title}</text>\n"
    );
    let mut time = 0.0;
    while time <= top + step / 2.0 {
        let at = y(time);
        let _ = writeln!(
            out,
            "<line class=\"g\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\"/><text class=\"m\" x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{time} ms</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.5
        );
        time += step;
    }
    let mut power = least;
    while power <= most {
        let size = 10_f64.powf(power);
        let _ = writeln!(
            out,
            "<text class=\"m\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(size),
            HEIGHT - BOTTOM + 20.0,
            thousands(size)
        );
        power += 1.0;
    }
    let _ = writeln!(
        out,
        "<text class=\"m\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{axis}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 8.0
    );
    for curve in curves {
        let class = if curve.second { "b" } else { "a" };
        let line: Vec<String> = curve.points.iter().map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1))).collect();
        let dashes = if curve.dashed { " d" } else { "" };
        let _ = writeln!(out, "<polyline class=\"l {class}{dashes}\" points=\"{}\"/>", line.join(" "));
        for point in &curve.points {
            let _ = writeln!(out, "<circle class=\"f{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>", x(point.0), y(point.1));
        }
    }
    for (curve, at) in curves.iter().zip(places(curves, y)) {
        let Some((size, time)) = curve.points.last() else { continue };
        let _ = writeln!(
            out,
            "<text class=\"f{}\" x=\"{:.1}\" y=\"{:.1}\">{}, {time:.0} ms</text>",
            if curve.second { "b" } else { "a" },
            x(*size) + 10.0,
            at + 4.5,
            curve.name
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Where the names stand: beside the ends, and apart from one another.
fn places(curves: &[Curve], y: impl Fn(f64) -> f64) -> Vec<f64> {
    let mut places: Vec<f64> = curves.iter().map(|curve| curve.points.last().map_or(0.0, |point| y(point.1))).collect();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*b].total_cmp(&places[*a]));
    // From the lowest upwards.
    for pair in order.windows(2) {
        places[pair[1]] = places[pair[1]].min(places[pair[0]] - APART);
    }
    places
}

/// The scale's end and its step: at most six steps of 1, 2 or 5 times a power of ten.
fn scale(most: f64) -> (f64, f64) {
    let mut power = 10_f64.powf((most / 6.0).log10().floor());
    loop {
        for step in [1.0, 2.0, 5.0].map(|digit| digit * power) {
            if step * 6.0 >= most {
                return ((most / step).ceil() * step, step);
            }
        }
        power *= 10.0;
    }
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_on_a_round_number() {
        assert_eq!(scale(119.0), (120.0, 20.0));
        assert_eq!(scale(7.0), (8.0, 2.0));
        assert_eq!(scale(1.0), (1.0, 0.2));
        assert_eq!(scale(31.0), (40.0, 10.0));
    }

    #[test]
    fn names_do_not_overlap_and_all_is_inside() {
        let curve = |name: &str, last: f64| Curve {
            name: name.into(),
            points: vec![(1_000.0, 5.0), (1_000_000.0, last)],
            dashed: false,
            second: false,
        };
        let curves = [curve("a", 40.0), curve("b", 41.0), curve("c", 5.0)];
        let places = places(&curves, |time| 300.0 - time);
        assert!((places[0] - places[1]).abs() >= APART && places[2] > places[0]);
        let svg = svg("title", "rows", &curves);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("1,000,000") && !svg.contains("NaN"));
        assert_eq!(svg.matches("<polyline").count(), 3);
    }
}

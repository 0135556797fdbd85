//! Boards as Grafana's classic JSON, schema version 39, which Grafana 10 to 13 load.

use serde_json::{Map, Value, json};

use super::panel::{Board, Kind, Panel, Query, Variable, Word, written};
use super::{boards, said_of};

const SCHEMA: u32 = 39;
const COLUMNS: u32 = 24;
/// Pixels of the number of a stat: a word in its place fits too.
const VALUE_SIZE: u32 = 30;
/// The version of Grafana that the options of panels are written for; newer ones migrate them.
const PLUGIN: &str = "10.4.0";

impl Board {
    /// The board as a file, with its last line ended.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{:#}\n", self.json())
    }

    /// Its uid, which stays the same for ever: links and bookmarks hold it.
    #[must_use]
    pub fn uid(&self) -> String {
        format!("tripnote-{}", self.slug)
    }

    fn json(&self) -> Value {
        json!({
            "annotations": {"list": annotations()},
            "description": self.asks,
            "editable": false,
            "fiscalYearStartMonth": 0,
            "graphTooltip": 1,
            "id": null,
            "links": self.links(),
            "panels": self.panels_json(),
            "refresh": "30s",
            "schemaVersion": SCHEMA,
            "tags": ["tripnote"],
            "templating": {"list": self.variables_json()},
            "time": {"from": "now-6h", "to": "now"},
            "timepicker": {},
            "timezone": "",
            "title": self.title,
            "uid": self.uid(),
            "version": 1,
            "weekStart": "",
        })
    }

    /// To each of the other boards, by uid, with the time and the variables that both have.
    fn links(&self) -> Vec<Value> {
        let others = boards().into_iter().filter(|board| board.slug != self.slug);
        let link = |board: Board| {
            json!({
                "asDropdown": false, "icon": "dashboard", "includeVars": true, "keepTime": true, "tags": [],
                "targetBlank": false, "title": board.title.trim_start_matches("tripnote / "), "tooltip": board.asks,
                "type": "link", "url": format!("/d/{}", board.uid()),
            })
        };
        others.map(link).collect()
    }

    fn variables_json(&self) -> Vec<Value> {
        let source = json!({
            "current": {}, "hide": 0, "includeAll": false, "label": "Data source", "multi": false, "name": "datasource",
            "options": [], "query": "prometheus", "refresh": 1, "regex": "", "skipUrlSync": false, "type": "datasource",
        });
        let job = some("job", "Job", "label_values(tripnote_build_info, job)");
        let instance = some("instance", "Instance", r#"label_values(tripnote_build_info{job=~"$job"}, instance)"#);
        let own = self.variables.iter().map(|variable| variable_json(*variable));
        [source, job, instance].into_iter().chain(own).collect()
    }

    fn panels_json(&self) -> Vec<Value> {
        let mut placed = vec![];
        let (mut id, mut y) = (0, 0);
        for row in &self.rows {
            id += 1;
            placed.push(json!({
                "collapsed": false, "gridPos": {"h": 1, "w": COLUMNS, "x": 0, "y": y}, "id": id, "panels": [],
                "title": row.title, "type": "row",
            }));
            y += 1;
            let (mut x, mut tallest) = (0, 0);
            for panel in &row.panels {
                if x + panel.width > COLUMNS {
                    (x, y, tallest) = (0, y + tallest, 0);
                }
                id += 1;
                let place = json!({"h": panel.height, "w": panel.width, "x": x, "y": y});
                placed.push(panel_json(panel, id, place));
                x += panel.width;
                tallest = tallest.max(panel.height);
            }
            y += tallest;
        }
        placed
    }
}

fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

fn some(name: &str, label: &str, query: &str) -> Value {
    json!({
        "allValue": ".+", "current": {"selected": true, "text": ["All"], "value": ["$__all"]}, "datasource": source(),
        "definition": query, "hide": 0, "includeAll": true, "label": label, "multi": true, "name": name, "options": [],
        "query": {"query": query, "refId": "Variable"}, "refresh": 2, "regex": "", "skipUrlSync": false, "sort": 1,
        "type": "query",
    })
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn variable_json(variable: Variable) -> Value {
    let values = |of: &str, label: &str| written(&format!("label_values({of}{{@}}, {label})"));
    match variable {
        Variable::Some { name, of } => some(name, &capital(name), &values(of, name)),
        Variable::One { name, title, of, label, is_last } => {
            let query = values(of, label);
            json!({
                "current": {}, "datasource": source(), "definition": query, "hide": 0, "includeAll": false,
                "label": title, "multi": false, "name": name, "options": [],
                "query": {"query": query, "refId": "Variable"}, "refresh": 2, "regex": "", "skipUrlSync": false,
                "sort": if is_last { 2 } else { 1 }, "type": "query",
            })
        }
        Variable::Fixed { name, title, values } => {
            let first = values.first().copied().unwrap_or_default();
            let choice = |value: &&str| json!({"selected": *value == first, "text": value, "value": value});
            json!({
                "current": {"selected": true, "text": first, "value": first}, "hide": 0, "includeAll": false,
                "label": title, "multi": false, "name": name, "options": values.iter().map(choice).collect::<Vec<_>>(),
                "query": values.join(","), "skipUrlSync": false, "type": "custom",
            })
        }
    }
}

/// Marks over all charts: what opened, what was reloaded, what was started.
fn annotations() -> Vec<Value> {
    let own = json!({
        "builtIn": 1, "datasource": {"type": "grafana", "uid": "-- Grafana --"}, "enable": true, "hide": true,
        "iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts", "type": "dashboard",
    });
    let mark = |name: &str, colour: &str, expr: &str, title: &str| {
        json!({
            "datasource": source(), "enable": true, "expr": written(expr), "hide": false, "iconColor": colour,
            "name": name, "tagKeys": "", "textFormat": "", "titleFormat": title, "useValueForTime": false,
        })
    };
    vec![
        own,
        mark(
            "Trips",
            "red",
            r#"sum by (breaker) (increase(tripnote_transitions_total{@, to="open"}[$__rate_interval])) > 0"#,
            "{{breaker}} opened",
        ),
        mark(
            "Reloads",
            "blue",
            r#"sum by (result) (increase(tripnote_config_reloads_total{@, result!="unchanged"}[$__rate_interval])) > 0"#,
            "configuration read again: {{result}}",
        ),
        mark(
            "Versions",
            "purple",
            "max by (version) (tripnote_build_info{@}) unless max by (version) (tripnote_build_info{@} offset 5m)",
            "version {{version}} came",
        ),
        mark(
            "Restarts",
            "orange",
            "max by (instance) (changes(process_start_time_seconds{@}[$__rate_interval])) > 0",
            "{{instance}} started again",
        ),
    ]
}

fn panel_json(panel: &Panel, id: u32, place: Value) -> Value {
    let description = match said_of(&panel.queries).as_str() {
        "" => panel.asks.to_owned(),
        said => format!("{}\n\n{said}", panel.asks),
    };
    let mut object = json!({
        "datasource": source(), "description": description, "fieldConfig": field_config(panel), "gridPos": place,
        "id": id, "options": options(panel), "pluginVersion": PLUGIN, "targets": targets(panel), "title": panel.title,
        "type": match panel.kind {
            Kind::Stat => "stat",
            Kind::Lines | Kind::Areas => "timeseries",
            Kind::Bars => "bargauge",
            Kind::Table => "table",
            Kind::Timeline => "state-timeline",
            Kind::Text => "text",
        },
    });
    if let (Kind::Table, Some(object)) = (panel.kind, object.as_object_mut()) {
        object.insert("transformations".to_owned(), transformations(panel));
    }
    object
}

fn reference(at: usize) -> String {
    char::from_u32(u32::from(b'A').saturating_add(u32::try_from(at).unwrap_or(0))).unwrap_or('Z').to_string()
}

fn targets(panel: &Panel) -> Vec<Value> {
    let is_instant = matches!(panel.kind, Kind::Stat | Kind::Bars | Kind::Table);
    let format = if panel.kind == Kind::Table { "table" } else { "time_series" };
    let target = |(at, Query { expr, legend }): (usize, &Query)| {
        let legend = if legend.is_empty() { "__auto" } else { legend };
        json!({
            "datasource": source(), "editorMode": "code", "expr": expr, "format": format, "instant": is_instant,
            "legendFormat": legend, "range": !is_instant, "refId": reference(at),
        })
    };
    panel.queries.iter().enumerate().map(target).collect()
}

/// One table of all queries: its labels first, then a column a query.
fn transformations(panel: &Panel) -> Value {
    let (mut order, mut names) = (Map::new(), Map::new());
    for (at, label) in panel.labels.iter().enumerate() {
        order.insert((*label).to_owned(), json!(at));
    }
    for (at, column) in panel.columns.iter().enumerate() {
        // A table of one query calls its numbers `Value` alone.
        let own = format!("Value #{}", reference(at));
        for value in [&own, "Value"].into_iter().take(if panel.columns.len() == 1 { 2 } else { 1 }) {
            order.insert(value.to_owned(), json!(panel.labels.len() + at));
            names.insert(value.to_owned(), json!(column.title));
        }
    }
    json!([
        {"id": "merge", "options": {}},
        {"id": "organize", "options": {"excludeByName": {"Time": true}, "indexByName": order, "renameByName": names}},
    ])
}

fn field_config(panel: &Panel) -> Value {
    let step = |(at, (from, colour)): (usize, &(f64, &str))| json!({"color": colour, "value": if at == 0 { Value::Null } else { json!(from) }});
    let steps: Vec<Value> = if panel.steps.is_empty() {
        vec![json!({"color": "text", "value": null})]
    } else {
        panel.steps.iter().enumerate().map(step).collect()
    };
    let mode = match panel.kind {
        Kind::Lines | Kind::Areas => "palette-classic",
        Kind::Bars if panel.steps.is_empty() => "palette-classic",
        Kind::Bars | Kind::Stat | Kind::Table | Kind::Timeline | Kind::Text => "thresholds",
    };
    let mut defaults = json!({
        "color": {"mode": mode}, "custom": custom(panel.kind), "mappings": mappings(panel), "noValue": panel.empty,
        "thresholds": {"mode": "absolute", "steps": steps}, "unit": panel.unit,
    });
    let Some(fields) = defaults.as_object_mut() else { return defaults };
    if panel.unit == "percentunit" && panel.kind != Kind::Table {
        fields.extend([("max".to_owned(), json!(1)), ("decimals".to_owned(), json!(1))]);
    }
    if matches!(panel.kind, Kind::Bars | Kind::Lines | Kind::Areas) {
        fields.insert("min".to_owned(), json!(0));
    }
    if let Some((board, label)) = panel.more {
        let value = match panel.kind {
            Kind::Table => format!("${{__data.fields.{label}}}"),
            Kind::Stat | Kind::Lines | Kind::Areas | Kind::Bars | Kind::Timeline | Kind::Text => {
                format!("${{__field.labels.{label}}}")
            }
        };
        let url = format!("/d/tripnote-{board}?var-{label}={value}&${{__url_time_range}}");
        fields.insert("links".to_owned(), json!([{"title": format!("Show on the board of {board}"), "url": url}]));
    }
    json!({"defaults": defaults, "overrides": overrides(panel)})
}

fn custom(kind: Kind) -> Value {
    match kind {
        Kind::Lines | Kind::Areas => json!({
            "drawStyle": "line", "fillOpacity": if kind == Kind::Areas { 45 } else { 8 }, "lineInterpolation": "linear",
            "lineWidth": 1, "showPoints": "never", "spanNulls": false,
            "stacking": {"group": "A", "mode": if kind == Kind::Areas { "normal" } else { "none" }},
        }),
        Kind::Table => json!({"align": "auto", "minWidth": 70}),
        Kind::Timeline => json!({"fillOpacity": 75, "lineWidth": 0}),
        Kind::Stat | Kind::Bars | Kind::Text => json!({}),
    }
}

/// Words for numbers, and for no number: a share of nothing is neither 0 nor missing.
fn mappings(panel: &Panel) -> Value {
    let is_whole = panel.kind != Kind::Table && !panel.words.is_empty();
    let result = json!({"color": "text", "index": panel.words.len(), "text": panel.empty});
    let none = json!({"options": {"match": "null+nan", "result": result}, "type": "special"});
    Value::Array(is_whole.then(|| words(panel)).into_iter().chain([none]).collect())
}

fn words(panel: &Panel) -> Value {
    let word = |(at, (number, word, colour)): (u32, &Word)| {
        (number.to_string(), json!({"color": colour, "index": at, "text": word}))
    };
    let options: Map<String, Value> = (0..).zip(&panel.words).map(word).collect();
    json!({"options": options, "type": "value"})
}

fn overrides(panel: &Panel) -> Vec<Value> {
    let by_name =
        |name: &str, properties: Value| json!({"matcher": {"id": "byName", "options": name}, "properties": properties});
    let colours = panel.colours.iter().map(|(name, colour)| {
        by_name(name, json!([{"id": "color", "value": {"fixedColor": colour, "mode": "fixed"}}]))
    });
    let units = panel.columns.iter().enumerate().map(|(at, column)| {
        let decimals = if column.unit == "percentunit" { 1 } else { 0 };
        let mut properties = vec![json!({"id": "unit", "value": column.unit})];
        if ["percentunit", "none"].contains(&column.unit) {
            properties.push(json!({"id": "decimals", "value": decimals}));
        }
        if at == 0 && !panel.words.is_empty() {
            properties.push(json!({"id": "mappings", "value": [words(panel)]}));
            properties.push(json!({"id": "custom.cellOptions", "value": {"type": "color-text"}}));
        }
        by_name(column.title, Value::Array(properties))
    });
    colours.chain(units).collect()
}

fn options(panel: &Panel) -> Value {
    let reduce = json!({"calcs": ["lastNotNull"], "fields": "", "values": false});
    match panel.kind {
        Kind::Stat => json!({
            "colorMode": "background", "graphMode": "none", "justifyMode": "auto", "orientation": "auto",
            "reduceOptions": reduce, "text": {"valueSize": VALUE_SIZE}, "textMode": "value", "wideLayout": true,
        }),
        Kind::Bars => json!({
            "displayMode": "basic", "maxVizHeight": 36, "minVizHeight": 16, "minVizWidth": 8, "namePlacement": "auto",
            "orientation": "horizontal", "reduceOptions": reduce, "showUnfilled": true, "sizing": "manual",
            "valueMode": "text",
        }),
        Kind::Lines | Kind::Areas => json!({
            "legend": {"calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "right", "showLegend": true},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }),
        Kind::Table => json!({"cellHeight": "sm", "footer": {"show": false}, "showHeader": true}),
        Kind::Timeline => json!({
            "alignValue": "left", "legend": {"displayMode": "list", "placement": "bottom", "showLegend": true},
            "mergeValues": true, "rowHeight": 0.9, "showValue": "auto", "tooltip": {"mode": "single", "sort": "none"},
        }),
        Kind::Text => json!({"content": panel.asks, "mode": "markdown"}),
    }
}

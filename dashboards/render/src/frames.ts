// A panel's frames with its transformations, field options and overrides applied, by Grafana's own code.
import {
  applyFieldOverrides, cacheFieldDisplayNames, DataFrame, dataLinksOverrideProcessor, displayNameOverrideProcessor,
  FieldConfigOptionsRegistry, GrafanaTheme2, identityOverrideProcessor, numberOverrideProcessor, standardTransformers,
  standardTransformersRegistry, thresholdsOverrideProcessor, transformDataFrame, unitOverrideProcessor,
  valueMappingsOverrideProcessor,
} from '@grafana/data';
import { firstValueFrom } from 'rxjs';

// Ids repeat in the library's list; the registry takes each once.
standardTransformersRegistry.setInit(() =>
  [...new Map(Object.values(standardTransformers).map((one: any) => [one.id, one])).values()].map((one: any) => ({
    id: one.id, name: one.name, transformation: () => Promise.resolve(one), editor: () => null, aliasIds: [],
  })) as any);

const STANDARD: Record<string, any> = {
  unit: unitOverrideProcessor, min: numberOverrideProcessor, max: numberOverrideProcessor,
  decimals: numberOverrideProcessor, displayName: displayNameOverrideProcessor,
  mappings: valueMappingsOverrideProcessor, thresholds: thresholdsOverrideProcessor,
  color: identityOverrideProcessor, links: dataLinksOverrideProcessor, noValue: identityOverrideProcessor,
};
const CUSTOM = [
  'drawStyle', 'lineInterpolation', 'lineWidth', 'fillOpacity', 'gradientMode', 'showPoints', 'pointSize', 'stacking',
  'axisPlacement', 'axisLabel', 'axisSoftMin', 'axisSoftMax', 'scaleDistribution', 'spanNulls', 'hideFrom',
  'lineStyle', 'thresholdsStyle', 'cellOptions', 'align', 'width', 'barAlignment', 'axisCenteredZero', 'minWidth',
];

const registry = new FieldConfigOptionsRegistry(() => [
  ...Object.entries(STANDARD).map(([id, process]) => ({
    id, path: id, name: id, process, shouldApply: () => true, override: () => null, editor: () => null,
    getItemsCount: () => 0,
  })),
  ...CUSTOM.map((id) => ({
    id: `custom.${id}`, path: id, isCustom: true, name: id, process: identityOverrideProcessor,
    shouldApply: () => true, override: () => null, editor: () => null, getItemsCount: () => 0,
  })),
] as any);

// Options that a board uses and that are not drawn here would be lost in silence; better to stop.
function refuseUnknown(panel: any): void {
  const ids = [
    ...Object.keys(panel.fieldConfig.defaults).filter((id) => id !== 'custom'),
    ...Object.keys(panel.fieldConfig.defaults.custom ?? {}).map((id) => `custom.${id}`),
    ...panel.fieldConfig.overrides.flatMap((one: any) => one.properties.map(({ id }: any) => id)),
  ];
  const unknown = ids.filter((id) => !registry.getIfExists(id));
  if (unknown.length > 0) {
    throw new Error(`field options that are not drawn here: ${unknown.join(', ')}`);
  }
}

export async function prepared(
  panel: any, frames: DataFrame[], theme: GrafanaTheme2, replace: (text: string) => string,
): Promise<DataFrame[]> {
  refuseUnknown(panel);
  const transformed = await firstValueFrom(transformDataFrame(panel.transformations ?? [], frames));
  const out = applyFieldOverrides({
    data: transformed, fieldConfig: panel.fieldConfig, fieldConfigRegistry: registry,
    replaceVariables: (text: string) => replace(text), theme, timeZone: 'utc',
  });
  cacheFieldDisplayNames(out);
  return out;
}

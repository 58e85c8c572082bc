/** What an alarm rule writes into the details of its alarm (`rule-engine.md` 7.2). */
import { valueText } from '../../model/entry-json.ts'
import type { TypedValue } from '../../model/value.ts'

/** `known`: values under the names that the text may have in `${}`. Null where the rule says nothing: the alarm's stay. */
export function alarmDetails(
  text: string | undefined,
  dashboardId: string | undefined,
  known: Iterable<readonly [name: string, value: TypedValue]>,
): Record<string, string> | null {
  if (text === undefined && dashboardId === undefined) return null
  let data = text
  for (const [name, value] of known) data = data?.replaceAll(`\${${name}}`, () => valueText(value))
  return { ...(data === undefined ? {} : { data }), ...(dashboardId === undefined ? {} : { dashboardId }) }
}

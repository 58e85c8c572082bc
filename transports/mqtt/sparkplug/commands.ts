/** What goes down to an edge node and its devices: changes of shared attributes and calls, as metrics of NCMD and DCMD. Source: `device-api.md` 14. */
import { isMillraceError } from '../../../model/errors.ts'
import { isJsonObject, parseJson, WholeDouble, type JsonValue } from '../../../model/json.ts'
import type { Entry } from '../../../model/value.ts'
import type { CallRequest, SharedAttributesUpdate } from '../../../engine/device/gateway.ts'
import type { Births, BornMetric, Owner } from './births.ts'
import type { CommandMetric } from './payload.ts'
import { commandValue } from './values.ts'

export type Command = 'NCMD' | 'DCMD'

export function commandOf(owner: Owner): Command {
  return owner === undefined ? 'NCMD' : 'DCMD'
}

/** Those of the changes that are metrics of the birth, with a value of its datatype. */
export function metricsOfUpdate(births: Births, owner: Owner, update: SharedAttributesUpdate): CommandMetric[] {
  if (update.kind === 'deleted') return []
  const metrics: CommandMetric[] = []
  for (const entry of update.entries) {
    for (const [name, value] of wantedBy(entry, commandOf(owner))) {
      const born = births.metric(owner, name)
      const metric = born === undefined ? undefined : metricOf(born, value)
      if (metric !== undefined) metrics.push(metric)
    }
  }
  return metrics
}

/** An attribute with the name of the command holds metrics; any other is one itself. */
function wantedBy(entry: Entry, command: Command): [string, JsonValue][] {
  if (entry.type !== 'JSON') return [[entry.key, entry.type === 'DOUBLE' ? new WholeDouble(entry.value) : entry.value]]
  const value = parseJson(entry.value)
  return entry.key === command && isJsonObject(value) ? Object.entries(value) : [[entry.key, value]]
}

/** The metric that a call is for, or the answer that tells what is wrong with it. */
export function metricOfCall(
  births: Births,
  owner: Owner,
  { method, params }: CallRequest,
): CommandMetric | { readonly refusal: string } {
  const command = commandOf(owner)
  if (method !== command) return refused(`The method has to be ${command}`)
  const { metricName, value } = membersOf(params)
  if (typeof metricName !== 'string' || value === undefined) return refused('metricName and value are needed')
  const born = births.metric(owner, metricName)
  if (born === undefined) return refused(`No birth has a metric ${metricName}`)
  return metricOf(born, value) ?? refused(`The metric ${metricName} does not take this value`)
}

export function doneAnswer(command: Command): string {
  return JSON.stringify({ result: `Success: ${command}` })
}

function refused(error: string): { readonly refusal: string } {
  return { refusal: JSON.stringify({ result: 'BAD_REQUEST_PARAMS', error }) }
}

function metricOf({ name, alias, datatype, field }: BornMetric, value: JsonValue): CommandMetric | undefined {
  const wire = commandValue(datatype, value, field)
  return wire === undefined ? undefined : { name: alias === undefined ? name : undefined, alias, datatype, value: wire }
}

function membersOf(params: string): { readonly [name: string]: JsonValue | undefined } {
  try {
    const members = parseJson(params)
    return isJsonObject(members) ? members : {}
  } catch (error) {
    // A caller's text that is no JSON says nothing.
    if (!isMillraceError(error)) throw error
    return {}
  }
}

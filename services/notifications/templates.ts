/** Texts with `${name}` in them; `${name:upperCase}`, `:lowerCase` and `:capitalize` change how it is written. What is unknown stays. */
import { htmlText } from '../../model/html-text.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'

export type Parameters = Readonly<Record<string, string>>

const PLACE = /\$\{([^{}:]{1,100}?)(?::([a-zA-Z]{1,20}))?\}/g
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  upperCase: (text) => text.toUpperCase(),
  lowerCase: (text) => text.toLowerCase(),
  capitalize: (text) => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
}
/** A place may hold much: what it makes of a short template is bounded. */
const MAX_TEXT = 65_536

export function filled(template: string, parameters: Parameters): string {
  const text = template.replace(PLACE, (whole, name: string, form: string | undefined) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === undefined) return whole
    return form === undefined ? value : (FORMS[form]?.(value) ?? whole)
  })
  return text.slice(0, MAX_TEXT)
}

/** Every text of it. */
export function filledJson(value: JsonValue, parameters: Parameters): JsonValue {
  if (typeof value === 'string') return filled(value, parameters)
  if (Array.isArray(value)) return value.map((item) => filledJson(item, parameters))
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledJson(item, parameters)]))
}

function isPlain(value: object): value is JsonObject {
  return Object.getPrototypeOf(value) === Object.prototype
}

/** For a place in HTML. */
export function escaped(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, htmlText(value)]))
}

export interface Named {
  readonly email: string
  readonly firstName: string | null
  readonly lastName: string | null
}

/** First and last name, else the address. */
export function titleOf({ email, firstName, lastName }: Named): string {
  const names = [firstName, lastName].filter((part) => part !== null && part !== '')
  return names.length === 0 ? email : names.join(' ')
}

export function recipientParameters(user: Named): Parameters {
  return {
    recipientTitle: titleOf(user),
    recipientEmail: user.email,
    recipientFirstName: user.firstName ?? '',
    recipientLastName: user.lastName ?? '',
  }
}

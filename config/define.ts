/**
 * How a setting is declared: type, default, unit, environment name and one sentence on its effect, all in one place. From the
 * declaration come the parser, `--help`, `config`, and the reference page.
 */
import { isIP } from 'node:net'
import { defineErrors } from '../model/errors.ts'
import type { PortRange } from '../model/port-range.ts'

export const ConfigErrors = defineErrors('config', {
  BAD_VALUE: { kind: 'terminal', status: 500, text: '{name}={value} is not allowed: {allowed}' },
  UNKNOWN_SETTING: { kind: 'terminal', status: 500, text: 'unknown setting {name}: did you mean {nearest}?' },
  FILE_UNUSABLE: { kind: 'terminal', status: 500, text: '{name}={file} can not be used: {reason}' },
  CONTRADICTION: { kind: 'terminal', status: 500, text: '{reason}' },
})

export interface Setting<Value> {
  /** The environment variable's name; ThingsBoard's where it has one for the same thing. */
  readonly name: string
  readonly group: string
  readonly defaultValue: Value
  /** Shown behind the value; undefined for what has no unit. */
  readonly unit: string | undefined
  readonly description: string
  /** What values are allowed, as a phrase that ends "… is not allowed: ". */
  readonly allowed: string
  /** The same for a table: empty where the default or the description shows it, or only the refusal of a value needs it. */
  readonly values: string
  /** Never printed. */
  readonly secret: boolean
  /** Undefined where the text is no allowed value. */
  parse(text: string): Value | undefined
  show(value: Value): string
}

/** The values of declared settings by their keys. */
export type ValuesOf<Settings> = {
  readonly [Key in keyof Settings]: Settings[Key] extends Setting<infer Value> ? Value : never
}

interface Declaration<Value> {
  readonly name: string
  readonly default: Value
  readonly unit?: string
  readonly description: string
}

/** Declares the settings of one group: `const http = settingsOf('HTTP')`, then `http.port({…})`. */
export function settingsOf(group: string) {
  const make = <Value>(
    declaration: Declaration<Value>,
    allowed: string,
    parse: (text: string) => Value | undefined,
    show: (value: Value) => string = String,
    secret = false,
    values = allowed,
  ): Setting<Value> => ({
    name: declaration.name,
    group,
    defaultValue: declaration.default,
    unit: declaration.unit,
    description: declaration.description,
    allowed,
    values,
    secret,
    parse,
    show,
  })

  const integer = (
    declaration: Declaration<number> & { readonly min: number; readonly max: number },
  ): Setting<number> => {
    const { min, max, unit } = declaration
    return make(
      declaration,
      `a whole number from ${min} to ${max}${unit === undefined ? '' : ` (${unit})`}`,
      (text) => {
        const value = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
        return value >= min && value <= max ? value : undefined
      },
      String,
      false,
      '',
    )
  }

  return {
    integer,
    port: (declaration: Declaration<number>) => integer({ ...declaration, min: 0, max: 65535 }),
    /** A port whose default depends on others; not set by default. */
    optionalPort: (declaration: Omit<Declaration<number | undefined>, 'default'>): Setting<number | undefined> => {
      const whole = integer({ ...declaration, default: 0, min: 0, max: 65535 })
      return { ...whole, defaultValue: undefined, show: (value) => (value === undefined ? 'none' : String(value)) }
    },
    flag: (declaration: Declaration<boolean>) =>
      make(
        declaration,
        'true or false',
        (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
        String,
        false,
        '',
      ),
    text: (declaration: Declaration<string>) =>
      make(declaration, 'a text that is not empty', (text) => (text === '' ? undefined : text), String, false, ''),
    /** The path of a file that may be named; none by default. Whether it can be read is seen at the start (`compose/named-files.ts`). */
    file: (declaration: Omit<Declaration<string | undefined>, 'default'>) =>
      make<string | undefined>(
        { ...declaration, default: undefined },
        'the path of a file',
        (text) => (text === '' ? undefined : text),
        (value) => value ?? 'none',
        false,
        '',
      ),
    /** One word of up to 32 letters, digits, `_` and `-`: as long as the names of streams allow. */
    word: (declaration: Declaration<string>) =>
      make(
        declaration,
        'one word of up to 32 letters, digits, _ and -',
        (text) => (/^[A-Za-z0-9_-]{1,32}$/.test(text) ? text : undefined),
        String,
        false,
        '',
      ),
    /** So many in so many seconds, as the reference writes it: `50000:3600`. */
    rate: (declaration: Declaration<{ readonly count: number; readonly seconds: number }>) =>
      make(
        declaration,
        'a number, a colon, and seconds, such as 50000:3600',
        (text) => {
          const [, count, seconds] = /^(\d{1,12}):([1-9]\d{0,9})$/.exec(text) ?? []
          return count === undefined ? undefined : { count: Number(count), seconds: Number(seconds) }
        },
        ({ count, seconds }) => `${count}:${seconds}`,
        false,
        '',
      ),
    /** A name of up to 100 letters, digits, `.`, `_` and `-`; none by default. */
    optionalWord: (declaration: Omit<Declaration<string | undefined>, 'default'>) =>
      make<string | undefined>(
        { ...declaration, default: undefined },
        'a name of up to 100 letters, digits, ., _ and -',
        (text) => (/^[A-Za-z0-9._-]{1,100}$/.test(text) ? text : undefined),
        (value) => value ?? 'none',
        false,
        '',
      ),
    address: (declaration: Declaration<string>) =>
      make(
        declaration,
        'an IP address of this machine, such as 127.0.0.1 or 0.0.0.0, or localhost',
        (text) => (/^(localhost|[0-9.]+|[0-9a-fA-F:]+)$/.test(text) ? text : undefined),
        String,
        false,
        '',
      ),
    /** Addresses and networks, separated by commas; none by default. */
    networks: (declaration: Omit<Declaration<readonly string[]>, 'default'>) =>
      make<readonly string[]>(
        { ...declaration, default: [] },
        'IP addresses and networks such as 10.0.0.0/8, separated by commas',
        (text) => {
          const networks = text.split(',').map((part) => part.trim())
          return networks.every(isNetwork) ? networks : undefined
        },
        (value) => (value.length === 0 ? 'none' : value.join(',')),
        false,
        'such as 10.0.0.0/8,127.0.0.1',
      ),
    /** Ports, and ranges of them, separated by commas; none by default. */
    portRanges: (declaration: Omit<Declaration<readonly PortRange[]>, 'default'>) =>
      make<readonly PortRange[]>(
        { ...declaration, default: [] },
        'ports and ranges of them such as 5000-5010,6000',
        portRangesOf,
        (ranges) =>
          ranges.length === 0
            ? 'none'
            : ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(','),
        false,
        'such as 5000-5010,6000',
      ),
    /** Addresses, networks and names of hosts, separated by commas; none by default. */
    hosts: (declaration: Omit<Declaration<readonly string[]>, 'default'>) =>
      make<readonly string[]>(
        { ...declaration, default: [] },
        'IP addresses, networks such as 10.0.0.0/8 and names of hosts such as *.example.org, separated by commas',
        (text) => {
          const hosts = text.split(',').map((part) => part.trim())
          return hosts.every((host) => isNetwork(host) || isHostName(host)) ? hosts : undefined
        },
        (value) => (value.length === 0 ? 'none' : value.join(',')),
        false,
        'such as 8.8.0.0/16,*.example.org',
      ),
    choice: <Choice extends string>(declaration: Declaration<Choice> & { readonly choices: readonly Choice[] }) =>
      make<Choice>(
        declaration,
        `one of ${declaration.choices.join(', ')}`,
        (text) => declaration.choices.find((choice) => choice === text),
        String,
        false,
        declaration.choices.join(', '),
      ),
    /** Several choices, separated by commas. */
    choices: <Choice extends string>(
      declaration: Declaration<readonly Choice[]> & { readonly choices: readonly Choice[] },
    ) =>
      make<readonly Choice[]>(
        declaration,
        `one or more of ${declaration.choices.join(', ')}, separated by commas`,
        (text) => {
          const named = text.split(',').map((part) => part.trim())
          const known = declaration.choices.filter((choice) => named.includes(choice))
          return known.length > 0 && known.length === new Set(named).size ? known : undefined
        },
        (value) => value.join(','),
        false,
        '',
      ),
    /** The address of a server; a password in it is never printed. */
    url: (declaration: Declaration<string> & { readonly schemes: readonly string[] }) =>
      make(
        declaration,
        `an address such as ${declaration.default}`,
        (text) => (text.split(',').every((part) => isUrl(part, declaration.schemes)) ? text : undefined),
        withoutPasswords,
        false,
        '',
      ),
    /** Addresses of servers that may be named; none by default. */
    urls: (declaration: Omit<Declaration<readonly string[]>, 'default'> & { readonly schemes: readonly string[] }) =>
      make<readonly string[]>(
        { ...declaration, default: [] },
        `addresses of ${declaration.schemes.join(' or ')}, separated by commas`,
        (text) => {
          const addresses = text.split(',').map((part) => part.trim())
          return addresses.every((part) => isUrl(part, declaration.schemes)) ? addresses : undefined
        },
        (value) => (value.length === 0 ? 'none' : withoutPasswords(value.join(','))),
        false,
        '',
      ),
    /** A secret has no default: undefined means what `absent` says. */
    secret: (
      declaration: Declaration<string | undefined> & {
        readonly allowed: string
        readonly absent: string
        readonly accepts: (text: string) => boolean
      },
    ) =>
      make<string | undefined>(
        declaration,
        declaration.allowed,
        (text) => (declaration.accepts(text) ? text : undefined),
        (value) => (value === undefined ? declaration.absent : '********'),
        true,
      ),
  }
}

/** Addresses with their passwords masked, also in addresses that are none because of a `/`, `@` or `,` in the password. */
export function withoutPasswords(text: string): string {
  // A comma ends an address only where another one begins behind it.
  return text
    .split(/,(?=\s*[a-z]+:\/\/)/)
    .map((address) =>
      address
        .replace(/:\/\/([^:@/]*):[^]*@/, '://$1:********@')
        // NATS takes a token in the place of a user.
        .replace(/((?:nats|tls):\/\/)[^:@]+@/, '$1********@')
        .replace(/([?&]password=)[^&,]*/g, '$1********'),
    )
    .join(',')
}

function isUrl(text: string, schemes: readonly string[]): boolean {
  const url = URL.parse(text.trim())
  return url !== null && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== ''
}

/** What looks like an address and is none, such as 10.0.0, would deny nothing. */
function isHostName(text: string): boolean {
  return /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z]([a-z0-9_-]*[a-z0-9_])?$/i.test(text)
}

function portRangesOf(text: string): readonly PortRange[] | undefined {
  const ranges = text.split(',').map((part) => {
    const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? []
    return { from: from === '' ? Number.NaN : Number(from), to: Number(to) }
  })
  return ranges.every(({ from, to }) => from >= 1 && from <= to && to <= 65_535) ? ranges : undefined
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32))
}

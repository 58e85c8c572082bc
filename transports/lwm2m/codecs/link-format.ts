/** CoRE link format (RFC 6690) as registrations have it: `</3/0>;ver=1.2,</5/0>`. */
import { Lwm2mErrors } from '../errors.ts'

export interface Link {
  readonly target: string
  /** Without quotes; empty where it has no value. A parameter that comes again does not count. */
  readonly parameters: ReadonlyMap<string, string>
}

const MAX_LINKS = 4096
/** Sticky, and no part of them can be read in two ways: linear in the length. */
const TARGET = /\s*<([^<>]*)>/y
const PARAMETER = /\s*;\s*([\w!#$&+\-.^`|~*]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^",;\s]*)))?/y
const NEXT = /\s*,/y
const END = /\s*$/y

/** Throws BAD_PAYLOAD, TOO_MANY_VALUES. */
export function parseLinks(text: string): readonly Link[] {
  const links: Link[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  if (take(END) !== null) return links
  for (;;) {
    const target = take(TARGET)?.[1]
    if (target === undefined) throw malformed(`a link begins with < at ${at}`)
    if (links.length >= MAX_LINKS) throw Lwm2mErrors.TOO_MANY_VALUES({ limit: MAX_LINKS })
    const parameters = new Map<string, string>()
    for (let found = take(PARAMETER); found !== null; found = take(PARAMETER)) {
      const [, name = '', quoted, bare] = found
      if (!parameters.has(name)) parameters.set(name, quoted?.replace(/\\(.)/g, '$1') ?? bare ?? '')
    }
    links.push({ target, parameters })
    if (take(END) !== null) return links
    if (take(NEXT) === null) throw malformed(`links are parted by commas at ${at}`)
  }
}

function malformed(reason: string): Error {
  return Lwm2mErrors.BAD_PAYLOAD({ format: 'link format', reason })
}

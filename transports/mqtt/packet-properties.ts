/**
 * The properties of what an MQTT 5 client sends beside its PUBLISHes, which have a reader of their own: that each may stand there, once, and in
 * its form. `mqtt-packet` looks at none of this: one that comes again is a list in its packets, where a number is expected.
 * Source: MQTT 5 sections 2.2.2 and 3.
 */
import { ProtocolViolation, malformed, uint16, type ProtocolVersion } from './codec.ts'
import { Reason } from './reason-codes.ts'

type Form = 'flag' | 'two bytes' | 'four bytes' | 'number' | 'text' | 'pair'
type Properties = Readonly<Record<number, Form>>

const USER_PROPERTY = 0x26
const AUTHENTICATION_METHOD = 0x15
const AUTHENTICATION_DATA = 0x16
const WILL_FLAG = 0b100
const PASSWORD_FLAG = 0b0100_0000
const USER_NAME_FLAG = 0b1000_0000
/** The protocol's name and its level. */
const BEGINNING_OF_31 = Buffer.from('\0\u0006MQIsdp\u0003')
const LONGEST_NUMBER = 4
const ID_BYTES = 2
const KEEP_ALIVE_BYTES = 2

const OF_CONNECT: Properties = {
  ...{ 0x11: 'four bytes', 0x15: 'text', 0x16: 'text', 0x17: 'flag', 0x19: 'flag', 0x21: 'two bytes' },
  ...{ 0x22: 'two bytes', 0x26: 'pair', 0x27: 'four bytes' },
}
const OF_WILL: Properties = {
  ...{ 0x01: 'flag', 0x02: 'four bytes', 0x03: 'text', 0x08: 'text', 0x09: 'text', 0x18: 'four bytes', 0x26: 'pair' },
}
const OF_SUBSCRIBE: Properties = { 0x0b: 'number', 0x26: 'pair' }
const OF_UNSUBSCRIBE: Properties = { 0x26: 'pair' }
const OF_DISCONNECT: Properties = { 0x11: 'four bytes', 0x1f: 'text', 0x26: 'pair' }

/** `frame`: a whole packet. Also of an older client: that it ends where its last field does. Throws ProtocolViolation. */
export function checkConnect(frame: Buffer, version: ProtocolVersion): void {
  // Behind the protocol's name and its level; the keep alive follows.
  const flagsAt = behindText(frame, bodyOf(frame), frame.length) + 1
  const flags = frame[flagsAt] ?? 0
  const hasWill = (flags & WILL_FLAG) !== 0
  let at = flagsAt + 1 + KEEP_ALIVE_BYTES
  if (version === 5) at = checkOfConnect(frame, at)
  at = behindText(frame, at, frame.length)
  if (hasWill && version === 5) at = check(frame, at, OF_WILL).end
  for (const isThere of [hasWill, hasWill, (flags & USER_NAME_FLAG) !== 0, (flags & PASSWORD_FLAG) !== 0])
    if (isThere) at = behindText(frame, at, frame.length)
  if (at !== frame.length) throw malformed('CONNECT of another length than its fields')
}

/**
 * A CONNECT of MQTT 3.1 may end before its user name or password, whatever its flags say: those of texts that are not there are taken away
 * (MQTT 3.1, section 3.1). Any other frame comes back as it is. Throws ProtocolViolation.
 */
export function withoutAbsentTexts(frame: Buffer): Buffer {
  const nameAt = bodyOf(frame)
  const flagsAt = nameAt + BEGINNING_OF_31.length
  if (!frame.subarray(nameAt, flagsAt).equals(BEGINNING_OF_31)) return frame
  const flags = frame[flagsAt] ?? 0
  let at = behindText(frame, flagsAt + 1 + KEEP_ALIVE_BYTES, frame.length)
  const present = [WILL_FLAG, WILL_FLAG, USER_NAME_FLAG, PASSWORD_FLAG].filter((flag) => (flags & flag) !== 0)
  for (const flag of present) {
    if (at === frame.length && flag !== WILL_FLAG) {
      const amended = Buffer.from(frame)
      amended[flagsAt] = flags & ~(flag === USER_NAME_FLAG ? USER_NAME_FLAG | PASSWORD_FLAG : PASSWORD_FLAG)
      return amended
    }
    at = behindText(frame, at, frame.length)
  }
  return frame
}

/** Where the client id begins. */
function checkOfConnect(frame: Buffer, position: number): number {
  const { seen, end } = check(frame, position, OF_CONNECT)
  // MQTT 5 section 3.1.2.11.10.
  if (seen.has(AUTHENTICATION_DATA) && !seen.has(AUTHENTICATION_METHOD)) throw violation('authentication data alone')
  return end
}

/** Throws ProtocolViolation. */
export function checkSubscribeProperties(frame: Buffer): void {
  check(frame, bodyOf(frame) + ID_BYTES, OF_SUBSCRIBE)
}

/** Throws ProtocolViolation. */
export function checkUnsubscribeProperties(frame: Buffer): void {
  check(frame, bodyOf(frame) + ID_BYTES, OF_UNSUBSCRIBE)
}

/** Throws ProtocolViolation. */
export function checkDisconnectProperties(frame: Buffer): void {
  const at = bodyOf(frame) + 1
  // A reason alone has none behind it. MQTT 5 section 3.14.2.2.1.
  if (at < frame.length) check(frame, at, OF_DISCONNECT)
}

/** Behind the first byte and the length of the packet. */
function bodyOf(frame: Buffer): number {
  let at = 1
  while (((frame[at] ?? 0) & 0x80) !== 0) at++
  return at + 1
}

/** `position`: of their length. */
function check(frame: Buffer, position: number, allowed: Properties): { seen: ReadonlySet<number>; end: number } {
  const begin = behindNumber(frame, position, frame.length)
  const end = begin + numberAt(frame, position)
  if (end > frame.length) throw malformed('properties longer than the packet')
  const seen = new Set<number>()
  for (let at = begin; at < end;) {
    const id = frame[at] ?? 0
    const form = allowed[id]
    if (form === undefined) throw malformed(`property ${id}`)
    if (seen.has(id) && id !== USER_PROPERTY) throw violation(`property ${id} twice`)
    seen.add(id)
    at = behind(frame, at + 1, end, form)
    if (at > end) throw malformed('property longer than the properties')
  }
  return { seen, end }
}

function behind(frame: Buffer, at: number, end: number, form: Form): number {
  switch (form) {
    case 'flag':
      if (at < end && (frame[at] ?? 0) > 1) throw violation('a flag is 0 or 1')
      return at + 1
    case 'two bytes':
      return at + 2
    case 'four bytes':
      return at + 4
    case 'number':
      return behindNumber(frame, at, end)
    case 'text':
      return behindText(frame, at, end)
    case 'pair':
      return behindText(frame, behindText(frame, at, end), end)
  }
}

function behindText(frame: Buffer, at: number, end: number): number {
  return at + 2 + uint16(frame, at, end)
}

/** Of one to four bytes, seven bits each. */
function behindNumber(frame: Buffer, at: number, end: number): number {
  for (let next = at; next < Math.min(at + LONGEST_NUMBER, end); next++)
    if (((frame[next] ?? 0) & 0x80) === 0) return next + 1
  throw malformed('number of variable length')
}

/** What `behindNumber` went over. */
function numberAt(frame: Buffer, position: number): number {
  let value = 0
  for (let at = position, factor = 1; ; at++, factor *= 128) {
    const digit = frame[at] ?? 0
    value += (digit & 0x7f) * factor
    if ((digit & 0x80) === 0) return value
  }
}

function violation(what: string): ProtocolViolation {
  return new ProtocolViolation(Reason.PROTOCOL_ERROR, what)
}

/** CONNECT in the order of the specification: protocol, who is it, session, CONNACK. Source: `device-api.md` 3.1–3.3. */
import { randomUUID } from 'node:crypto'
import type { KeptSessionRow } from '../../../model/kept-session.ts'
import {
  mayUse,
  type DeviceIdentity,
  type MqttLogin,
  type PresentedCredentials,
} from '../../../engine/device/gateway.ts'
import { FIXED_HEADER_BYTES, ProtocolViolation, decodePacket, malformed, type IConnectPacket } from '../codec.ts'
import type { AskedSession, BegunSession, MqttConnection } from '../connection.ts'
import { GatewayChildren } from '../gateway/children.ts'
import { GatewayVoice } from '../gateway/voice.ts'
import { ticksOf } from '../keep-alive-wheel.ts'
import { checkConnect, withoutAbsentTexts } from '../packet-properties.ts'
import { Reason, connackV3, type ReasonCode } from '../reason-codes.ts'
import { SparkplugNode } from '../sparkplug/node.ts'
import { willOf } from '../sparkplug/will.ts'
import { TopicAliases } from '../topic-aliases.ts'

/** Who has no credentials says so by this name (`device-api.md` 3.2). */
const PROVISION = 'provision'
const LONGEST_CLIENT_ID_V3 = 23
const LARGEST_QOS = 2
const KEEP_ALIVE_GRACE = 1.5
/** Seconds. */
const LONGEST_KEEP_ALIVE = 65_535
/** Bytes of a CONNACK that refuses, and of one with the properties that each client of MQTT 5 is told. */
const CONNACK_BYTES = { REFUSAL: 5, ACCEPTANCE: 24, SESSION_EXPIRY: 5, KEEP_ALIVE: 3, CLIENT_ID: 39 } as const
const NOTHING_KEPT: BegunSession = { isPresent: false, expirySeconds: 0 }

/** Throws ProtocolViolation for what is no CONNECT of a version served here: the connection closes without CONNACK. */
export function handleConnect(session: MqttConnection, sent: Buffer): void {
  const frame = withoutAbsentTexts(sent)
  const packet = decodePacket(frame, undefined)
  if (packet.cmd !== 'connect') throw malformed('not a CONNECT')
  session.version = versionOf(packet)
  checkConnect(frame, session.version)
  if (packet.will !== undefined && Number(packet.will.qos) > LARGEST_QOS) throw malformed('QoS of the will') // [MQTT-3.1.2-12]
  requireLimits(packet)
  session.phase = 'AUTHENTICATING'
  session.host.connectReceived(session)
  if (session.version === 5) session.pushes.heed(packet.properties)
  // It could not be told what it must keep to. [MQTT-3.1.2-24]
  if (connackBytes(packet) > session.pushes.maximumPacketSize) return refuse(session, Reason.PACKET_TOO_LARGE)
  if (packet.properties?.authenticationMethod !== undefined) return refuse(session, Reason.BAD_AUTHENTICATION_METHOD)
  if (packet.username === PROVISION || packet.clientId === PROVISION) return acceptProvisioning(session, packet)
  const { shown } = session
  session.shown = undefined
  if (shown !== undefined) {
    // What else the client says does not count, and nothing is tried in the certificate's place: `device-api.md` 3.2.
    if (!shown.isValid) return refuseLogin(session, Reason.NOT_AUTHORIZED)
    const { certificate, authorities } = shown
    const presented = { type: 'X509_CERTIFICATE', certificate, authorities, clientAddress: session.address } as const
    return authenticate(session, packet, presented, Reason.NOT_AUTHORIZED)
  }
  const login = loginOf(packet)
  if (login.userName === '' && login.clientId === '') return refuseLogin(session, unknownDevice(packet))
  authenticate(session, packet, login, unknownDevice(packet))
}

/** `unknown`: what is said where nobody has these credentials. */
function authenticate(
  session: MqttConnection,
  packet: IConnectPacket,
  presented: PresentedCredentials,
  unknown: ReasonCode,
): void {
  const known = session.host.gateway.lookUp(presented)
  if (known !== undefined) return recall(session, packet, known)
  session.host.gateway
    .authenticate(presented)
    .then(
      (device) => {
        if (session.phase !== 'AUTHENTICATING') return
        if (device === undefined) refuseLogin(session, unknown)
        else recall(session, packet, device)
        session.resume()
      },
      () => {
        // The store did not answer: the gateway counts it, the client may try again.
        if (session.phase === 'AUTHENTICATING') refuse(session, Reason.SERVER_UNAVAILABLE)
      },
    )
    .catch((error: unknown) => session.violated(error))
}

function loginOf({ clientId, username, password }: IConnectPacket): MqttLogin {
  return { type: 'MQTT_LOGIN', clientId, userName: username ?? '', password: password?.toString() ?? '' }
}

function versionOf(packet: IConnectPacket): 3 | 4 | 5 {
  const { protocolId, protocolVersion, clientId } = packet
  if ('bridgeMode' in packet) throw malformed('protocol level of a bridge')
  if (protocolId === 'MQIsdp' && protocolVersion === 3) {
    if (clientId.length < 1 || clientId.length > LONGEST_CLIENT_ID_V3) throw malformed('client id of MQTT 3.1')
    return 3
  }
  if (protocolId === 'MQTT' && (protocolVersion === 4 || protocolVersion === 5)) return protocolVersion
  throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'protocol name and level do not match')
}

/** Who takes nothing at all could be told nothing. MQTT 5 sections 3.1.2.11.3 and 3.1.2.11.4. */
function requireLimits({ properties }: IConnectPacket): void {
  if (properties?.receiveMaximum === 0) throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'Receive Maximum 0')
  if (properties?.maximumPacketSize === 0) throw new ProtocolViolation(Reason.PROTOCOL_ERROR, 'Maximum Packet Size 0')
}

/** Which of the refusals: `device-api.md` 3.3. */
function unknownDevice(packet: IConnectPacket): ReasonCode {
  const hasUser = packet.username !== undefined && packet.username !== ''
  const hasPassword = packet.password !== undefined && packet.password.length > 0
  if (hasUser || hasPassword) return Reason.BAD_USER_NAME_OR_PASSWORD
  return packet.clientId.trim() === '' ? Reason.NOT_AUTHORIZED : Reason.CLIENT_ID_NOT_VALID
}

function refuseLogin(session: MqttConnection, reason: ReasonCode): void {
  session.host.loginEnded(session, false)
  refuse(session, reason)
}

function refuse(session: MqttConnection, reason: ReasonCode): void {
  if (reason !== Reason.QUOTA_EXCEEDED) session.host.counts.unauthenticated++
  if (session.version !== 5) session.send({ cmd: 'connack', sessionPresent: false, returnCode: connackV3(reason) })
  else if (session.pushes.maximumPacketSize >= CONNACK_BYTES.REFUSAL)
    session.send({ cmd: 'connack', sessionPresent: false, reasonCode: reason })
  session.close(reason)
}

/** Who wants what it had before waits until the store has said where that is; nobody else does. */
function recall(session: MqttConnection, packet: IConnectPacket, device: DeviceIdentity): void {
  const asked = askedSession(session, packet)
  session.wasKeptAsked = asked.expirySeconds > 0
  const recalling = session.host.keptSessions.recall(device, asked)
  if (recalling === undefined) return accept(session, packet, device, asked, undefined)
  recalling
    .then(
      (recalled) => {
        if (session.phase !== 'AUTHENTICATING') return
        accept(session, packet, device, asked, recalled)
        session.resume()
      },
      () => {
        if (session.phase !== 'AUTHENTICATING') return
        // What it sends is stored elsewhere, and is not to wait: it has nothing of before, and is told so.
        accept(session, packet, device, { ...asked, isClean: true, expirySeconds: 0 }, undefined)
        session.resume()
      },
    )
    .catch((error: unknown) => session.violated(error))
}

function accept(
  session: MqttConnection,
  packet: IConnectPacket,
  device: DeviceIdentity,
  asked: AskedSession,
  recalled: KeptSessionRow | undefined,
): void {
  const { host } = session
  if (!mayUse('MQTT', device)) return refuse(session, Reason.SERVER_UNAVAILABLE)
  const isNode = device.mqtt?.sparkplug !== undefined
  const will = isNode ? willOf(packet, host.sparkplug.decoder) : undefined
  if (isNode && will === undefined) return refuse(session, Reason.SERVER_UNAVAILABLE)
  if (!host.admit(device)) return refuse(session, Reason.QUOTA_EXCEEDED)
  host.loginEnded(session, true)
  session.tenantId = device.tenantId
  session.phase = 'CONNECTED'
  const keepAliveMs = (packet.keepalive ?? 0) * 1000 * KEEP_ALIVE_GRACE
  // One tick more: a tick is not a whole second for a packet that came late in it. [MQTT-3.1.2-24]
  session.allowedTicks = ticksOf(keepAliveMs === 0 ? host.limits.idleTimeoutMs : keepAliveMs) + 1
  session.heard()
  host.wheel.add(session)
  if (session.version === 5)
    session.topicAliasMaximum = TopicAliases.maximumFor(host.limits, host.aliasShares, device.tenantId)
  const { clientId } = asked
  const begun = { ...host.keptSessions.begin(session, device, asked, recalled), clientId }
  session.device = host.gateway.openSession(device, 'lasting', session)
  if (will !== undefined) {
    const node = new SparkplugNode(session, session.device, will)
    session.sparkplug = node
    session.children = node.children
  } else if (device.isGateway === true) {
    session.children = new GatewayChildren(session, device, new GatewayVoice(session))
  }
  acknowledge(session, packet, begun)
  if (begun.isPresent) session.kept?.resume(session)
}

interface Begun extends BegunSession {
  readonly clientId: string
}

/** MQTT 3.1 could not be told that its session is there [MQTT-3.2.2-1], and who has no client id could not find it: for them nothing is kept. */
function askedSession(session: MqttConnection, packet: IConnectPacket): AskedSession {
  const { version, host } = session
  const isNewId = packet.clientId === ''
  const clientId = isNewId ? randomUUID() : packet.clientId
  const isClean = version === 3 || isNewId || packet.clean === true
  const ofVersion3 = isClean ? 0 : host.limits.maxSessionExpirySeconds
  const expirySeconds = version === 5 ? (packet.properties?.sessionExpiryInterval ?? 0) : ofVersion3
  return { clientId, isNewId, isClean, expirySeconds }
}

/** Seconds. [MQTT-3.2.2-21] */
function longestKeepAlive(idleTimeoutMs: number): number {
  return Math.max(1, Math.min(LONGEST_KEEP_ALIVE, Math.floor(idleTimeoutMs / 1000 / KEEP_ALIVE_GRACE)))
}

function acceptProvisioning(session: MqttConnection, packet: IConnectPacket): void {
  const { host } = session
  host.admitProvisioning(session)
  session.isProvisioning = true
  session.phase = 'CONNECTED'
  session.allowedTicks = ticksOf(host.limits.provisioningTimeoutMs)
  session.heard()
  host.wheel.add(session)
  acknowledge(session, packet, { ...NOTHING_KEPT, clientId: packet.clientId === '' ? randomUUID() : packet.clientId })
}

function acknowledge(session: MqttConnection, packet: IConnectPacket, begun: Begun): void {
  if (session.version === 5) session.send(connackV5(session, packet, begun))
  else session.send({ cmd: 'connack', sessionPresent: begun.isPresent, returnCode: 0 })
}

/** At most, of `connackV5`. */
function connackBytes({ properties, keepalive, clientId }: IConnectPacket): number {
  const { ACCEPTANCE, SESSION_EXPIRY, KEEP_ALIVE, CLIENT_ID } = CONNACK_BYTES
  const expiry = (properties?.sessionExpiryInterval ?? 0) === 0 ? 0 : SESSION_EXPIRY
  return ACCEPTANCE + expiry + ((keepalive ?? 0) === 0 ? KEEP_ALIVE : 0) + (clientId === '' ? CLIENT_ID : 0)
}

function connackV5(
  session: MqttConnection,
  packet: IConnectPacket,
  begun: Begun,
): Parameters<MqttConnection['send']>[0] {
  const { limits } = session.host
  const { isPresent, expirySeconds, clientId } = begun
  return {
    cmd: 'connack',
    sessionPresent: isPresent,
    reasonCode: Reason.SUCCESS,
    properties: {
      receiveMaximum: limits.maxInFlight,
      // Nothing is retained. A PUBLISH with the flag is taken all the same, as the reference takes it.
      retainAvailable: false,
      // Counted beside the remaining length.
      maximumPacketSize: limits.maxPacketBytes + FIXED_HEADER_BYTES,
      // The filters of the table have a `+`; another wildcard is refused on its own, with 0x8F.
      wildcardSubscriptionAvailable: true,
      sharedSubscriptionAvailable: false,
      subscriptionIdentifiersAvailable: false,
      ...(session.topicAliasMaximum === 0 ? {} : { topicAliasMaximum: session.topicAliasMaximum }),
      // [MQTT-3.1.2-23] and [MQTT-3.1.3-7]: told only where it differs from what the client asked.
      ...((packet.properties?.sessionExpiryInterval ?? 0) === expirySeconds
        ? {}
        : { sessionExpiryInterval: expirySeconds }),
      // Else a client without pings would be closed for its silence, and not know why.
      ...((packet.keepalive ?? 0) === 0 && !session.isProvisioning
        ? { serverKeepAlive: longestKeepAlive(limits.idleTimeoutMs) }
        : {}),
      ...(packet.clientId === '' ? { assignedClientIdentifier: clientId } : {}),
    },
  }
}

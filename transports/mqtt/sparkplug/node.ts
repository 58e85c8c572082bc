/**
 * One connection of a Sparkplug edge node: what it says of itself and of its devices, and the commands that go down to both. Its devices are
 * those behind a gateway, with sessions of their own. Source: `device-api.md` 14, Sparkplug 3.0.
 */
import { isMillraceError } from '../../../model/errors.ts'
import type {
  CallRequest,
  DeviceIdentity,
  DeviceSession,
  PublishReceipt,
  SessionEnd,
  SharedAttributesUpdate,
} from '../../../engine/device/gateway.ts'
import type { MqttConnection } from '../connection.ts'
import { GatewayChildren } from '../gateway/children.ts'
import { PartReceipt, PublishParts } from '../gateway/receipts.ts'
import type { ChildRegistry, ChildVoice } from '../gateway/registry.ts'
import { push } from '../handlers/push.ts'
import { ticksOf } from '../keep-alive-wheel.ts'
import { Reason } from '../reason-codes.ts'
import { Births, type Owner } from './births.ts'
import { commandOf, doneAnswer, metricOfCall, metricsOfUpdate } from './commands.ts'
import type { EdgeNode } from './edge-node.ts'
import { SparkplugErrors } from './errors.ts'
import { encodeCommand, type CommandMetric, type SparkplugPayload } from './payload.ts'
import { BD_SEQ, bdSeqOf, resolved, stateGroup, type ForStore } from './stored.ts'
import {
  commandTopic,
  entityName,
  isSparkplugFilter,
  parseTopic,
  type NodeName,
  type SparkplugTopic,
} from './topics.ts'
import { commandValue, Datatype } from './values.ts'
import type { NodeWill } from './will.ts'

const REBIRTH = 'Node Control/Rebirth'
/** A client that counts wrongly would be asked again and again. */
const REBIRTH_PAUSE_MS = 60_000
const SEQUENCE = 256
/** What waits for one device, besides its payload. */
const PART_BYTES = 512
const NOBODY: PublishReceipt = { stored: () => undefined, refused: () => undefined }
/** A brief session hears nothing. */
const DEAF = { sharedAttributesChanged: () => undefined, closed: () => undefined }

export class SparkplugNode implements EdgeNode, ChildVoice {
  readonly keepsSilent = true
  readonly children: ChildRegistry
  private readonly session: MqttConnection
  private readonly name: NodeName
  /** As it logged in. */
  private readonly known: DeviceIdentity
  private readonly births: Births
  /** Of the will, and then of the last NBIRTH. */
  private bdSeq: bigint | undefined
  private lastSeq: number | undefined
  private isCounting = false
  private rebirthTick = -Infinity
  private nodeQos: 0 | 1 = 1
  private deviceQos: 0 | 1 = 1
  /** Its end is stored, or is not to be. */
  private isOver = false
  /** Those whose end is stored with it: a device that was still being connected is none of them. */
  private ofDeath: ReadonlySet<DeviceSession> = new Set()

  constructor(session: MqttConnection, device: DeviceSession, will: NodeWill) {
    this.session = session
    this.name = will.name
    this.known = device.device
    this.bdSeq = bdSeqOf(will.payload)
    const { sparkplug, limits } = session.host
    this.births = new Births(sparkplug.births, this.known.tenantId, limits.maxBirthBytesPerNode)
    this.children = new GatewayChildren(session, this.known, this)
    this.store(device, resolved(will.payload, 'NDEATH', undefined, this.births, this.known), NOBODY)
  }

  received(topicName: string, body: Buffer, receipt: PublishReceipt): void {
    const topic = parseTopic(topicName)
    if (topic === undefined || topic.group !== this.name.group || topic.node !== this.name.node)
      throw SparkplugErrors.WRONG_TOPIC({ topic: topicName })
    const payload = this.session.host.sparkplug.decoder.decode(body)
    if (topic.type === 'NDEATH') return this.died(payload, receipt)
    this.count(topic, payload)
    if (topic.type === 'DDEATH') return this.deviceDied(topic.device ?? '', body.length, receipt)
    try {
      if (topic.type === 'NBIRTH' || topic.type === 'DBIRTH') this.births.born(topic.device, payload.metrics)
    } catch (error) {
      if (!isMillraceError(error) || error.kind === 'invalid') throw error
      return new PublishParts(this.session, receipt, 1).refused('', error)
    }
    if (!this.births.has(topic.device)) this.askForBirth()
    this.take(topic, payload, body.length, receipt)
  }

  private take(topic: SparkplugTopic, payload: SparkplugPayload, bytes: number, receipt: PublishReceipt): void {
    const { device } = this.session
    if (device === undefined) return
    const what = this.resolve(topic, payload, device.device)
    if (topic.device !== undefined) {
      return this.withDevice(topic.device, bytes, receipt, (session) => this.store(session, what, receipt))
    }
    this.store(device, what, receipt)
    if (topic.type !== 'NBIRTH') return
    this.bdSeq = bdSeqOf(payload)
    // Not before there are metrics that they could be for.
    device.subscribeToSharedAttributes()
    device.subscribeToCalls('all')
  }

  private resolve({ type, device }: SparkplugTopic, payload: SparkplugPayload, identity: DeviceIdentity): ForStore {
    try {
      return resolved(payload, type, device, this.births, identity)
    } catch (error) {
      if (isMillraceError(error) && error.code === 'sparkplug.UNKNOWN_ALIAS') this.askForBirth()
      throw error
    }
  }

  private store(device: DeviceSession, { groups, shared }: ForStore, receipt: PublishReceipt): void {
    const parts = (groups.length > 0 ? 1 : 0) + (shared.length > 0 ? 1 : 0)
    if (parts === 0) {
      device.touch()
      return receipt.stored()
    }
    const whole = new PublishParts(this.session, receipt, parts)
    const own = new PartReceipt(whole, device.device.deviceName)
    if (shared.length > 0) device.postAttributes(shared, own, 'SHARED_SCOPE')
    if (groups.length > 0) device.postTelemetry(groups, own)
  }

  private withDevice(
    device: string,
    bytes: number,
    receipt: PublishReceipt,
    act: (session: DeviceSession) => void,
  ): void {
    const name = entityName(this.name, device)
    const session = this.children.connected(name)
    if (session !== undefined) return act(session)
    const type = `${this.session.device?.device.deviceType ?? this.known.deviceType} device`
    this.children.connect(
      { name, type, label: device, formerName: device },
      {
        bytes: bytes + PART_BYTES,
        connected: act,
        refused: (error) => new PublishParts(this.session, receipt, 1).refused(name, error),
      },
    )
  }

  private deviceDied(device: string, bytes: number, receipt: PublishReceipt): void {
    const name = entityName(this.name, device)
    if (!this.births.has(device) && this.children.connected(name) === undefined) return receipt.stored()
    this.births.forget(device)
    this.withDevice(device, bytes, receipt, (session) => {
      this.offline(session, new PartReceipt(new PublishParts(this.session, receipt, 1), name))
      // Behind what else waited for it; it may be born again by then.
      queueMicrotask(() => {
        if (!this.births.has(device)) this.children.disconnect(name)
      })
    })
  }

  /** The node says itself that it goes; acknowledged once that is stored of it and its devices. */
  private died({ metrics }: SparkplugPayload, receipt: PublishReceipt): void {
    const [only] = metrics
    const { value } = only ?? {}
    const isRight = metrics.length === 1 && only?.name === BD_SEQ && typeof value?.value === 'bigint'
    if (!isRight || value.value !== this.bdSeq) throw SparkplugErrors.WRONG_DEATH()
    const { device } = this.session
    if (device === undefined) return
    const sessions = [device, ...this.children.sessions()]
    const whole = new PublishParts(this.session, receipt, sessions.length)
    for (const each of sessions) this.offline(each, new PartReceipt(whole, each.device.deviceName))
    this.isOver = true
    this.ofDeath = new Set(sessions)
    this.session.closeWhenAnswered(Reason.SUCCESS)
  }

  private offline(session: DeviceSession, receipt: PublishReceipt): void {
    session.postTelemetry([stateGroup('OFFLINE')], receipt)
  }

  /** All messages of a node and its devices share one count; what is missing is born again [tck-id-operational-behavior-data-publish]. */
  private count({ type }: SparkplugTopic, { seq: said }: SparkplugPayload): void {
    // Some clients leave a 0 out, and some do not count at all.
    const seq = said ?? 0
    const isNext = this.lastSeq !== undefined && seq === (this.lastSeq + 1) % SEQUENCE
    // Commands have no number [tck-id-payloads-ncmd-seq]; some clients give them one all the same.
    const isCommand = type === 'NCMD' || type === 'DCMD'
    if (isCommand && (said === undefined || !isNext)) return
    this.isCounting ||= seq !== 0
    this.lastSeq = seq
    if (type !== 'NBIRTH' && !isNext && this.isCounting) this.askForBirth()
  }

  private askForBirth(): void {
    const { wheel } = this.session.host
    if (wheel.tick - this.rebirthTick < ticksOf(REBIRTH_PAUSE_MS)) return
    const born = this.births.metric(undefined, REBIRTH)
    // A node that was born without it cannot do it.
    if (born === undefined && this.births.has(undefined)) return
    const value = commandValue(Datatype.Boolean, true, undefined)
    if (value === undefined) return
    const alias = born?.alias
    const name = alias === undefined ? REBIRTH : undefined
    this.send(undefined, [{ name, alias, datatype: Datatype.Boolean, value }])
  }

  subscribe(filter: string, requestedQos: number): 0 | 1 | undefined {
    if (!isSparkplugFilter(filter)) return undefined
    const qos = requestedQos === 0 ? 0 : 1
    if (filter.includes('STATE/')) return qos
    if (!filter.includes('/DCMD/')) this.nodeQos = qos
    if (!filter.includes('/NCMD/')) this.deviceQos = qos
    return qos
  }

  nodeAttributesChanged(update: SharedAttributesUpdate): void {
    this.change(undefined, update)
  }

  nodeCalled(request: CallRequest): void {
    const { device } = this.session
    if (device !== undefined) this.call(undefined, device, request)
  }

  attributesChanged(name: string, update: SharedAttributesUpdate): void {
    this.change(this.deviceOf(name), update)
  }

  called(name: string, of: DeviceSession, request: CallRequest): void {
    this.call(this.deviceOf(name), of, request)
  }

  leaving(session: DeviceSession): void {
    if (!this.ofDeath.has(session)) this.offline(session, NOBODY)
  }

  /** The end is stored through another session, but where a newer connection says how it goes on. */
  ended(reason: SessionEnd): void {
    const device = this.session.device?.device ?? this.known
    const isTold = reason !== 'TAKEN_OVER' && reason !== 'DEVICE_DELETED'
    if (!this.isOver && isTold) {
      const session = this.session.host.gateway.openSession(device, 'brief', DEAF)
      this.offline(session, NOBODY)
      session.close()
    }
  }

  close(): void {
    const { device } = this.session
    if (!this.isOver && device !== undefined) this.offline(device, NOBODY)
    this.births.forgetAll()
  }

  private deviceOf(name: string): string {
    return name.slice(entityName(this.name, '').length)
  }

  private change(owner: Owner, update: SharedAttributesUpdate): void {
    const metrics = metricsOfUpdate(this.births, owner, update)
    if (metrics.length > 0) this.send(owner, metrics)
  }

  private call(owner: Owner, device: DeviceSession, request: CallRequest): void {
    const metric = metricOfCall(this.births, owner, request)
    if ('refusal' in metric) {
      device.callDelivered(request.id, 'DELIVERED')
      return device.answerCall(request.id, metric.refusal)
    }
    const answer = doneAnswer(commandOf(owner))
    this.send(owner, [metric], {
      id: request.id,
      of: {
        callDelivered(id, delivery) {
          device.callDelivered(id, delivery)
          if (delivery === 'DELIVERED') device.answerCall(id, answer)
        },
      },
    })
  }

  private send(owner: Owner, metrics: readonly CommandMetric[], call?: Parameters<typeof push>[4]): void {
    const qos = owner === undefined ? this.nodeQos : this.deviceQos
    // Whoever asked for it: the births that come of it are waited for.
    if (owner === undefined && metrics.some((metric) => this.isRebirth(metric)))
      this.rebirthTick = this.session.host.wheel.tick
    push(this.session, commandTopic(this.name, owner), encodeCommand(metrics, this.session.host.now()), qos, call)
  }

  private isRebirth({ name, alias, value }: CommandMetric): boolean {
    const isNamed = alias === undefined ? name === REBIRTH : alias === this.births.metric(undefined, REBIRTH)?.alias
    return isNamed && value.value === true
  }
}

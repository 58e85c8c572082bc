/**
 * Firmware of one client (object 5): the package that its shared attributes name is written to it, or the address where it loads it, and is
 * executed once it is there. What it says of its state is telemetry. Source: `device-api.md` 13.9.
 */
import type { DeviceGateway, UploadGroup } from '../../engine/device/gateway.ts'
import type { Entry } from '../../model/value.ts'
import type { BodyPart } from '../coap-messages/requests.ts'
import { pathText, type ValueRecord } from './codecs/records.ts'
import { operationOf } from './operations.ts'
import type { ReachedClient } from './reached-client.ts'
import { typedValue } from './values.ts'

const Resource = {
  PACKAGE: [5, 0, 0],
  UPDATE: [5, 0, 2],
  STATE: '/5/0/3',
  RESULT: '/5/0/5',
  NAME: '/5/0/6',
  VERSION: '/5/0/7',
  DELIVERY: '/5/0/9',
  RUNNING: '/3/0/3',
} as const
const HEARD: readonly string[] = [
  ...[Resource.STATE, Resource.RESULT, Resource.NAME, Resource.VERSION],
  ...[Resource.DELIVERY, Resource.RUNNING],
]
const KEYS = ['fw_title', 'fw_version', 'fw_tag', 'fw_url'] as const
type Key = (typeof KEYS)[number]
type Wanted = Partial<Record<Key, string>>

const STATES: Readonly<Record<string, string>> = { 1: 'DOWNLOADING', 2: 'DOWNLOADED', 3: 'UPDATING' }
/** It loads packages from an address, and takes none that is written to it. */
const PULLS_ONLY = '0'
const SUCCESS = '1'
const INITIAL = '0'
/** The connection was lost, or what came is not whole: another try may go well. */
const WORTH_A_RETRY: readonly string[] = ['4', '5']
const MAX_RETRIES = 3

export class FirmwareUpdate {
  private readonly client: ReachedClient
  private readonly gateway: Pick<DeviceGateway, 'downloadPackage'>
  /** What the client said last of each resource. */
  private readonly said = new Map<string, string>()
  /** The state that was told last while an update is under way. */
  private told: string | undefined
  private underWay: string | undefined
  /** What is not tried again. */
  private failed: string | undefined
  private retries = 0
  private checking: 'no' | 'yes' | 'again' = 'no'

  constructor(client: ReachedClient, gateway: Pick<DeviceGateway, 'downloadPackage'>) {
    this.client = client
    this.gateway = gateway
  }

  /** Whether a change of shared attributes is its business. */
  static concerns(entries: readonly Entry[]): boolean {
    return entries.some(({ key }) => KEYS.some((each) => each === key))
  }

  /** Of what was stored or not: firmware is known by what the profile reads or observes. */
  heard(records: readonly ValueRecord[]): void {
    for (const { path, value } of records) {
      const text = pathText(path)
      const model = HEARD.includes(text) ? this.client.modelAt(path) : undefined
      if (model === undefined) continue
      const now = String(typedValue(model.type, value, path).value)
      const before = this.said.get(text)
      this.said.set(text, now)
      if (before === now || this.underWay === undefined) continue
      if (text === Resource.STATE) this.stateChanged(now)
      else if (text === Resource.RESULT) this.resultChanged(now)
    }
  }

  /** Begins where the client is to have another firmware than it has. */
  async check(): Promise<void> {
    if (this.checking !== 'no') {
      this.checking = 'again'
      return
    }
    try {
      do {
        this.checking = 'yes'
        await this.checkOnce()
      } while (this.isAgain)
    } finally {
      this.checking = 'no'
    }
  }

  private get isAgain(): boolean {
    return this.checking === 'again'
  }

  private async checkOnce(): Promise<void> {
    if (this.said.get(Resource.NAME) === undefined && this.said.get(Resource.VERSION) === undefined) return
    const { session } = this.client.registration
    const { shared } = await session.requestAttributes({ clientKeys: undefined, sharedKeys: KEYS })
    const wanted: Wanted = Object.fromEntries(shared.map(({ key, value }) => [key, String(value)]))
    const { fw_title: title, fw_version: version } = wanted
    if (title === undefined || version === undefined) return
    const name = `${title} ${version}`
    if (this.underWay === name || this.failed === name) return
    if (this.has(title, version, wanted.fw_tag)) {
      if (this.said.get(Resource.RESULT) === SUCCESS) this.tell('UPDATED')
      return
    }
    this.underWay = name
    this.told = undefined
    try {
      await this.deliver(title, version, wanted.fw_url)
    } catch (error) {
      // A silent client is tried again when it registers anew.
      this.client.failed(error)
      this.fail()
    }
  }

  private has(title: string, version: string, tag: string | undefined): boolean {
    const running = (this.said.get(Resource.NAME) ?? '') + (this.said.get(Resource.VERSION) ?? '')
    return running === title + version || running === tag || this.said.get(Resource.RUNNING)?.includes(version) === true
  }

  private async deliver(title: string, version: string, url: string | undefined): Promise<void> {
    if (url !== undefined) {
      const params = JSON.stringify({ id: '/5/0/1', value: url })
      return this.accepted(await this.client.ask(await operationOf('WriteReplace', params, this.client.context)))
    }
    if (this.said.get(Resource.DELIVERY) === PULLS_ONLY) return this.fail()
    const { device } = this.client.registration.session
    const read = async (at: number, size: number): Promise<BodyPart> => {
      const asked = { kind: 'FIRMWARE', title, version, size, chunk: at / size } as const
      const { bytes, wholeBytes, release } = await this.gateway.downloadPackage(device, asked)
      const own = Buffer.from(bytes)
      release()
      return { bytes: own, isMore: at + own.length < wholeBytes }
    }
    this.accepted(await this.client.push(Resource.PACKAGE, read))
  }

  private accepted({ code }: { readonly code: string }): void {
    if (!code.startsWith('2.')) this.fail()
  }

  private stateChanged(state: string): void {
    const name = STATES[state]
    if (name !== undefined) this.tell(name)
    if (name === 'DOWNLOADED') void this.install()
    // Its result, which may follow, says whether another try may go well.
    else if (state === INITIAL && this.told === 'DOWNLOADING') this.tell('FAILED')
  }

  private async install(): Promise<void> {
    const answer = await this.client.attempt({ code: '0.02', path: Resource.UPDATE, query: [] })
    if (typeof answer !== 'string') this.accepted(answer)
  }

  private resultChanged(result: string): void {
    if (result === SUCCESS || (result === INITIAL && this.told === 'UPDATING')) {
      this.tell('UPDATED')
      this.underWay = undefined
      return
    }
    if (result === INITIAL) return
    if (!WORTH_A_RETRY.includes(result) || this.retries >= MAX_RETRIES) return this.fail()
    this.retries++
    this.underWay = undefined
    void this.check().catch((error: unknown) => this.client.failed(error))
  }

  private fail(): void {
    this.failed = this.underWay
    this.underWay = undefined
    this.tell('FAILED')
  }

  private tell(state: string): void {
    if (this.told === state) return
    this.told = state
    const group: UploadGroup = { ts: undefined, entries: [{ key: 'fw_state', type: 'STRING', value: state }] }
    this.client.registration.session.postTelemetry([group], {
      stored: () => undefined,
      refused: (error) => this.client.failed(error),
    })
  }
}

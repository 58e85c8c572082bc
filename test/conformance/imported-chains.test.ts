/**
 * Rule chains that others exported, imported as the console does, made the root and run: each does what is drawn in it, no node fails, and what
 * is exported here has the members of those files. The files are no part of the project: without them this is a printed skip.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { RestClient, login } from '../support/clients.ts'
import { skipWithoutMosquitto, startMosquitto } from '../support/mosquitto.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

type Members = Readonly<Record<string, unknown>>

interface ChainFile {
  readonly ruleChain: Members
  readonly metadata: Members & { readonly nodes: readonly Members[]; readonly connections: readonly Members[] | null }
}

/** The console's own reading and writing of files: it runs in browsers and is not part of this compilation. */
interface ConsoleFiles {
  importBody(text: string, fileName: string): { readonly ruleChains: readonly Members[] }
  exportOf(chain: unknown, metadata: unknown): ChainFile
}

interface Statistics {
  readonly nodes: readonly { readonly name: string; readonly messages: number; readonly failures: number }[]
}

const FOLDER = new URL('../../../shared/chains/', import.meta.url)
const skip = existsSync(FOLDER) ? false : '../shared/chains is not here'
/** Of the files the one that a whole and present-day server wrote: it leaves no member out. */
const WHOLE_FILE = 'rule_chain.json'

function textOf(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}

interface Trial {
  readonly file: string
  /** Put into the text: what the file means another machine by. */
  readonly change?: (text: string) => string
  readonly send: (device: Device) => Promise<void>
}

interface Device {
  readonly name: string
  readonly id: string
  /** Posts as the device, and answers the answer's text. */
  readonly post: (path: string, body: unknown) => Promise<string>
  /** Waits for the newest value of a series. */
  readonly shows: (key: string, value: string) => Promise<void>
}

describe('exported chains of others, imported', { skip, timeout: 300_000 }, () => {
  let millrace: RunningMillrace
  let rest: RestClient
  let files: ConsoleFiles

  before(async () => {
    const address = new URL('../../api/console/browser/rule-chains/file.js', import.meta.url).href
    files = (await import(address)) as ConsoleFiles
    millrace = await startMillrace({ environment: { OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1' } })
    rest = new RestClient(millrace, await login(millrace))
  })
  after(() => millrace.stop())

  async function imported({ file, change = (text) => text }: Trial): Promise<string> {
    const body = files.importBody(change(textOf(file)), file)
    // A root chain of one's own is of this server's type; the file's runs at the edge.
    const ruleChains = body.ruleChains.map((chain) => ({ ...chain, type: 'CORE' }))
    const [made] = await rest.expect<{ ruleChainId?: { id: string }; error?: string }[]>(
      'POST',
      '/api/ruleChains/import',
      { ...body, ruleChains },
    )
    assert.equal(made?.error, undefined)
    return made?.ruleChainId?.id ?? assert.fail('nothing was imported')
  }

  async function newDevice(name: string): Promise<Device> {
    const id = await rest.createDevice(name, name)
    return {
      ...{ name, id },
      post: async (path, body) => {
        const answer = await fetch(`${millrace.url}/api/v1/${name}/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
        })
        assert.equal(answer.status, 200)
        return answer.text()
      },
      shows: (key, value) => shows('DEVICE', id, key, (shown) => shown === value),
    }
  }

  async function shows(type: string, id: string, key: string, isIt: (value: string) => boolean): Promise<void> {
    const path = `/api/plugins/telemetry/${type}/${id}/values/timeseries?keys=${key}`
    await eventually(
      () => rest.expect<Record<string, { value: string | null }[]>>('GET', path),
      (series) => isIt(series[key]?.[0]?.value ?? ''),
    )
  }

  async function runs(trial: Trial): Promise<string> {
    const id = await imported(trial)
    await rest.expect('POST', `/api/ruleChain/${id}/root`)
    const device = await newDevice(trial.file)
    await trial.send(device)
    const { nodes } = await rest.expect<Statistics>('GET', `/api/ruleChain/${id}/statistics`)
    for (const { name, failures } of nodes) assert.equal(failures, 0, name)
    return id
  }

  const saves = async ({ post, shows: showsSeries, id }: Device) => {
    await post('telemetry', { temperature: 22.5 })
    await showsSeries('temperature', '22.5')
    await post('attributes', { firmware: 'v1' })
    const path = `/api/plugins/telemetry/DEVICE/${id}/values/attributes/CLIENT_SCOPE?keys=firmware`
    await eventually(
      () => rest.expect<{ value: unknown }[]>('GET', path),
      ([attribute]) => attribute?.value === 'v1',
    )
  }

  for (const file of ['root_rule_chain.json', 'rule_chain_template.json', 'edge_root_rule_chain.json'])
    test(`${file} saves what devices send`, () => runs({ file, send: saves }).then(() => undefined))

  test('rule_chain.json saves, and measures how long it took', async () => {
    const asset = await rest.expect<{ id: { id: string } }>('POST', '/api/asset', { name: '[Monitoring] Latencies' })
    await runs({
      file: 'rule_chain.json',
      send: async (device) => {
        await saves(device)
        await device.post('telemetry', { testData: 1 })
        await device.shows('testData', '1')
        await shows('ASSET', asset.id.id, 'arrivalLatency', (value) => Number(value) >= 0 && value !== '')
      },
    })
  })

  test('RpcResponseRuleChainMetadata.json answers a device', () =>
    runs({
      file: 'RpcResponseRuleChainMetadata.json',
      send: async ({ post }) => {
        const answer = await post('rpc', { method: 'getResponse', params: {} })
        assert.deepEqual(JSON.parse(answer), { response: 'requestReceived' })
      },
    }).then(() => undefined))

  test('MqttRuleNodeTestMetadata.json saves what its broker has', { skip: skipWithoutMosquitto() }, async (context) => {
    const broker = await startMosquitto()
    context.after(() => broker.close())
    await runs({
      file: 'MqttRuleNodeTestMetadata.json',
      change: (text) =>
        text.replace('"host": "broker"', '"host": "127.0.0.1"').replace('"port": 1883', `"port": ${broker.port}`),
      send: async ({ post, shows: showsSeries }) => {
        await post('telemetry', { temperature: 22.5 })
        await showsSeries('temperature', '22.5')
      },
    })
  })

  test('ruleChainForImport.json, which is empty, takes what comes', async () => {
    await runs({
      file: 'ruleChainForImport.json',
      send: async ({ post }) => void (await post('telemetry', { temperature: 22.5 })),
    })
  })

  test('what is exported has exactly the members of those files', async () => {
    const id = await imported({ file: WHOLE_FILE, send: () => Promise.resolve() })
    const [chain, metadata] = await Promise.all([
      rest.expect('GET', `/api/ruleChain/${id}`),
      rest.expect('GET', `/api/ruleChain/${id}/metadata`),
    ])
    const ours = files.exportOf(chain, metadata)
    const theirs = JSON.parse(textOf(WHOLE_FILE)) as ChainFile
    assert.deepEqual(membersOf(ours), membersOf(theirs))
  })
})

function membersOf({ ruleChain, metadata }: ChainFile): object {
  const names = (lists: readonly Members[]) => [...new Set(lists.map((each) => Object.keys(each).toSorted().join()))]
  const { nodes, connections } = metadata
  return {
    ruleChain: names([ruleChain]),
    metadata: names([metadata]),
    nodes: names(nodes),
    connections: names(connections ?? []),
  }
}

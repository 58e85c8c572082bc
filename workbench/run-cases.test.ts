import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScriptHost } from '../engine/script/host.ts'
import { stringifyJson, type JsonObject } from '../model/json.ts'
import { SeededRandom } from '../model/manual-clock.ts'
import { catalogue } from '../nodes/catalogue.ts'
import { parseCases } from './cases.ts'
import { parseChain, type DrawnChain } from './chain-file.ts'
import { runCases, tryNode, type RunParts } from './run-cases.ts'

const PREFIX = 'org.thingsboard.rule.engine.'

type Line = readonly [name: string, type: string, configuration: JsonObject, version?: number]

function chainOf(
  nodes: readonly Line[],
  connections: readonly (readonly [number, string, number])[],
  firstNodeIndex = 0,
): DrawnChain {
  const drawn = nodes.map(([name, type, configuration, configurationVersion = 0]) => ({
    ...{ name, configuration, configurationVersion, type: `${PREFIX}${type}` },
  }))
  const ways = connections.map(([fromIndex, type, toIndex]) => ({ fromIndex, type, toIndex }))
  return parseChain(stringifyJson({ firstNodeIndex, nodes: drawn, connections: ways }), 'chain.json')
}

const parts: RunParts = {
  catalogue,
  scriptsFor: (clock) =>
    createScriptHost({
      clock,
      random: new SeededRandom(1),
      javaScript: () => {
        throw new Error('these chains have no JavaScript')
      },
    }),
  pause: async (sofar) => sofar < 50,
}

async function complaintsOf(chain: DrawnChain, yaml: string): Promise<readonly (readonly string[])[]> {
  const { results } = await runCases(chain, parseCases(yaml, 'cases.yaml'), parts)
  return results.map(({ complaints }) => complaints)
}

test('a delay of days takes no time, and what waits behind it comes when it is due', async () => {
  const chain = chainOf(
    [
      ['Wait', 'delay.TbMsgDelayNode', { periodInSeconds: 172_800, maxPendingMsgs: 10 }],
      ['Wait again', 'delay.TbMsgDelayNode', { periodInSeconds: 60, maxPendingMsgs: 10 }],
      [
        'Save',
        'telemetry.TbMsgTimeseriesNode',
        { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
        1,
      ],
    ],
    [
      [0, 'Success', 1],
      [1, 'Success', 2],
    ],
  )
  const yaml = `
world: { devices: { T1: {} } }
cases:
  - name: late
    steps:
      - send: { data: { a: 1 } }
        expect: { effects: [] }
      - wait: 2 d
        expect: { effects: [] }
      - wait: 1 min
        expect: { effects: [{ effect: save telemetry, of: T1, values: { a: 1 } }] }
`
  assert.deepEqual(await complaintsOf(chain, yaml), [[]])
})

test('services outside answer as the case says, and are never called', async () => {
  const chain = chainOf(
    [
      [
        'Ask',
        'rest.TbRestApiCallNode',
        {
          restEndpointUrlPattern: 'https://outside.example/$[id]',
          requestMethod: 'GET',
          headers: {},
          maxInMemoryBufferSizeInKb: 256,
        },
        4,
      ],
    ],
    [],
  )
  const yaml = `
world: { devices: { T1: {} } }
cases:
  - name: answered
    world: { outside: { http: { status: 200, body: { price: 5 } } } }
    send: { data: { id: 7 } }
    expect:
      out: [{ node: Ask, relation: Success, data: { price: 5 } }]
      effects: [{ effect: call http, call: { method: GET, url: https://outside.example/7 } }]
  - name: refused
    world: { outside: { http: { fails: nobody there } } }
    send: { data: { id: 7 } }
    expect: { relations: { Ask: Failure }, fails: nobody there }
`
  assert.deepEqual(await complaintsOf(chain, yaml), [[], []])
})

const HOT: Line = [
  'Hot',
  'action.TbCreateAlarmNode',
  {
    scriptLang: 'TBEL',
    alarmDetailsBuildTbel: 'return {};',
    alarmDetailsBuildJs: '',
    alarmType: 'Hot',
    severity: 'MAJOR',
  },
]

test('attributes, series, relations and alarms of the world are there, and change', async () => {
  const chain = chainOf(
    [
      [
        'Limit',
        'metadata.TbGetAttributesNode',
        {
          tellFailureIfAbsent: true,
          fetchTo: 'METADATA',
          serverAttributeNames: ['limit'],
          latestTsKeyNames: ['temperature'],
          clientAttributeNames: [],
          sharedAttributeNames: [],
          getLatestValueWithTs: false,
        },
        1,
      ],
      HOT,
      ['Telemetry', 'filter.TbMsgTypeFilterNode', { messageTypes: ['POST_TELEMETRY_REQUEST'] }],
    ],
    [
      [2, 'True', 0],
      [0, 'Success', 1],
    ],
    2,
  )
  const yaml = `
world:
  devices:
    T1: { attributes: { server: { limit: 30 } }, latest: { temperature: 21.5 } }
cases:
  - name: new
    send: { data: { v: 1 } }
    expect:
      out: [{ node: Limit, metadata: { ss_limit: '30', temperature: '21.5' } }]
      effects: [{ effect: alarm created, of: T1, type: Hot, severity: MAJOR }]
  - name: there
    world: { alarms: [{ of: T1, type: Hot, severity: MINOR }] }
    send: { data: { v: 1 } }
    expect:
      effects: [{ effect: alarm severity updated, severity: MAJOR }]
  - name: wrong
    send: { data: { v: 1 } }
    expect: { effects: [], relations: { Hot: Updated } }
`
  const [first, second, third] = await complaintsOf(chain, yaml)
  assert.deepEqual([first, second], [[], []])
  assert.equal(third?.length, 2)
  assert.match(third?.[0] ?? '', /'Hot' emits: expected Updated, got Created/)
  assert.match(third?.[1] ?? '', /not expected: .*alarm created/)
})

test('relations are walked over what a query leaves out, as the platform walks them', async () => {
  const query = { direction: 'FROM', maxLevel: 2, fetchLastLevelOnly: false }
  const filters = [{ relationType: 'Measures', entityTypes: ['DEVICE'], negate: false }]
  const source = { originatorSource: 'RELATED', relationsQuery: { ...query, filters } }
  const yaml = `
world:
  assets: { Building: {}, Room: {} }
  devices: { T1: {} }
  relations: [[Building, Contains, Room], [Room, Measures, T1]]
cases:
  - name: x
    send: { from: Building, data: {} }
    expect: { relations: { Related: Success }, effects: [] }
`
  const chain = chainOf([['Related', 'transform.TbChangeOriginatorNode', source]], [])
  assert.deepEqual(await complaintsOf(chain, yaml), [[]])
})

test('what a configuration names by its id is taken to be there', async () => {
  const id = '11111111-2222-4333-8444-555555555555'
  const one = { checkForSingleEntity: true, entityType: 'ASSET', entityId: id }
  const chain = chainOf(
    [
      ['Related', 'filter.TbCheckRelationNode', { direction: 'FROM', relationType: 'Contains', ...one }, 1],
      ['Other', 'flow.TbRuleChainInputNode', { ruleChainId: id, forwardMsgToDefaultRuleChain: false }, 1],
    ],
    [[0, 'True', 1]],
  )
  for (const node of chain.nodes) assert.equal(await tryNode(node, parts), undefined, node.name)
  const yaml = `
world: { devices: { T1: {} } }
cases:
  - name: x
    send: { data: {} }
    expect: { relations: { Related: 'False' } }
`
  assert.deepEqual(await complaintsOf(chain, yaml), [[]])
})

test('a chain that gets back what it tells, and tells it again, is no endless run', async () => {
  const yaml = '{world: {devices: {T1: {}}}, cases: [{name: x, send: {}}]}'
  const [complaints] = await complaintsOf(chainOf([HOT], []), yaml)
  assert.match(complaints?.[0] ?? '', /made over 1000 messages of one/)
})

test('a name that the world does not have, and data that is no JSON, are told', async () => {
  const chain = chainOf([['Tell', 'telemetry.TbMsgAttributesNode', {}, 3]], [])
  const yaml = `
world: { devices: { T1: {} } }
cases:
  - { name: x, send: { from: Nobody, data: {} } }
  - { name: y, send: { data: '{' } }
`
  const [unknown, broken] = await complaintsOf(chain, yaml)
  assert.match(unknown?.[0] ?? '', /the world has no 'Nobody'/)
  assert.ok((broken?.length ?? 0) > 0)
})

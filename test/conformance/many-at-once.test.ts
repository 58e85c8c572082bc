/** A batch of devices that is switched on together: a hundred ask for credentials, and are claimed, at once; each once, whatever the protocol. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connectAsync } from 'mqtt'
import { RawClient as RawCoapClient } from '../../transports/coap/testkit.ts'
import { DEMO_CUSTOMER, login, RestClient } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'
import { eventually } from './wait.ts'

const MANY = 100
const numbers = Array.from({ length: MANY }, (_, number) => number)

interface Provisioned {
  readonly status: 'SUCCESS' | 'FAILURE' | 'NOT_FOUND'
  readonly credentialsValue?: string
}

describe('a hundred devices at once', { timeout: 600_000 }, () => {
  let millrace: RunningMillrace
  let tenant: RestClient

  before(async () => {
    millrace = await startMillrace()
    tenant = new RestClient(millrace, await login(millrace))
    for (const [name, type] of [
      ['made', 'ALLOW_CREATE_NEW_DEVICES'],
      ['known', 'CHECK_PRE_PROVISIONED_DEVICES'],
    ] as const)
      await tenant.expect('POST', '/api/deviceProfile', {
        ...{ name, type: 'DEFAULT', transportType: 'DEFAULT', provisionType: type, provisionDeviceKey: `key ${name}` },
        profileData: {
          ...{ configuration: { type: 'DEFAULT' }, transportConfiguration: { type: 'DEFAULT' } },
          provisionConfiguration: { type, provisionDeviceSecret: 'secret' },
        },
      })
  })
  after(() => millrace.stop())

  const requestOf = (deviceName: string, profile = 'made'): string =>
    JSON.stringify({ deviceName, provisionDeviceKey: `key ${profile}`, provisionDeviceSecret: 'secret' })
  const overHttp = async (request: string): Promise<Provisioned> => {
    const answer = await fetch(`${millrace.url}/api/v1/provision`, { method: 'POST', body: request })
    assert.equal(answer.status, 200)
    return (await answer.json()) as Provisioned
  }
  const overMqtt = async (request: string): Promise<Provisioned> => {
    const client = await connectAsync(`mqtt://127.0.0.1:${millrace.ports['mqtt']}`, { username: 'provision' })
    try {
      await client.subscribeAsync('/provision/response')
      const answered = new Promise<string>((resolve) => client.once('message', (_, body) => resolve(body.toString())))
      await client.publishAsync('/provision/request', request, { qos: 1 })
      return JSON.parse(await answered) as Provisioned
    } finally {
      await client.endAsync(true)
    }
  }
  const overCoap = async (request: string): Promise<Provisioned> => {
    const client = await RawCoapClient.open(millrace.ports['coap'] ?? 0)
    try {
      const { text } = await client.answerTo({ path: '/api/v1/provision', payload: request })
      return JSON.parse(text.endsWith('}') ? text : '{}') as Provisioned
    } finally {
      client.close()
    }
  }
  const ways = [overHttp, overMqtt, overCoap]
  const atOnce = (request: (number: number) => string): Promise<readonly Provisioned[]> =>
    Promise.all(numbers.map((number) => ways[number % ways.length]?.(request(number)) ?? Promise.reject(new Error())))
  const devicesNamed = async (text: string): Promise<readonly { readonly id: { readonly id: string } }[]> => {
    const path = `/api/tenant/devices?pageSize=1000&page=0&textSearch=${encodeURIComponent(text)}`
    return (await tenant.expect<{ data: { id: { id: string } }[] }>('GET', path)).data
  }

  test('get credentials of their own, and send with them', async () => {
    const answers = await atOnce((number) => requestOf(`own ${number}`))
    assert.equal(answers.filter(({ status }) => status === 'SUCCESS').length, MANY)
    const tokens = new Set(answers.map(({ credentialsValue = '' }) => credentialsValue))
    assert.equal(tokens.size, MANY)
    assert.equal((await devicesNamed('own ')).length, MANY)
    const sent = await Promise.all(
      [...tokens].map((token) =>
        fetch(`${millrace.url}/api/v1/${token}/telemetry`, { method: 'POST', body: '{"n":1}' }),
      ),
    )
    assert.equal(sent.filter(({ status }) => status === 200).length, MANY)
  })

  test('are one device where they have one name: one gets it, the others are told that they do not', async () => {
    const answers = await atOnce(() => requestOf('the same'))
    assert.equal(answers.filter(({ status }) => status === 'SUCCESS').length, 1)
    assert.equal(answers.filter(({ status }) => status === 'FAILURE').length, MANY - 1)
    assert.equal((await devicesNamed('the same')).length, 1)
  })

  test('that are known before get their credentials once', async () => {
    await tenant.expect('POST', '/api/device?accessToken=KNOWN', { name: 'known one', type: 'known' })
    const answers = await atOnce(() => requestOf('known one', 'known'))
    const good = answers.filter(({ status }) => status === 'SUCCESS')
    assert.deepEqual(
      good.map(({ credentialsValue }) => credentialsValue),
      ['KNOWN'],
    )
    assert.equal(answers.filter(({ status }) => status === 'FAILURE').length, MANY - 1)
  })

  test('are claimed, each once, by who knows its secret', async () => {
    const customer = new RestClient(millrace, await login(millrace, DEMO_CUSTOMER))
    await Promise.all(numbers.map((number) => tenant.createDevice(`claimed ${number}`, `CLAIMED_${number}`)))
    const offers = await Promise.all(
      numbers.map((number) =>
        fetch(`${millrace.url}/api/v1/CLAIMED_${number}/claim`, {
          method: 'POST',
          body: JSON.stringify({ secretKey: `secret ${number}`, durationMs: 600_000 }),
        }),
      ),
    )
    assert.equal(offers.filter(({ status }) => status === 200).length, MANY)
    const claim = (number: number, client = customer) =>
      client.call('POST', `/api/customer/device/${encodeURIComponent(`claimed ${number}`)}/claim`, {
        secretKey: `secret ${number}`,
      })
    // Twice each: the second is told that it is somebody's.
    const answers = await Promise.all([...numbers, ...numbers].map((number) => claim(number)))
    const texts = answers.map(({ status, text }) => `${status} ${/SUCCESS|CLAIMED|FAILURE/.exec(text)?.[0]}`)
    for (const number of numbers)
      assert.deepEqual([texts[number], texts[number + MANY]].toSorted(), ['200 SUCCESS', '400 CLAIMED'], `${number}`)
    await eventually(
      () =>
        tenant.expect<{ totalElements: number }>('GET', `/api/tenant/devices?pageSize=1&page=0&textSearch=claimed%20`),
      ({ totalElements }) => totalElements === MANY,
    )
  })
})

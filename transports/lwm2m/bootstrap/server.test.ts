/** The bootstrap server, datagram by datagram: who is told, what a client is asked in which order, and what of it is left where it breaks. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../../model/json.ts'
import { OptionNumber, uintBytes } from '../../coap-messages/codec.ts'
import { pathText } from '../codecs/records.ts'
import { decoded } from '../payloads.ts'
import { bench, type Bench, type Request, type TestClient } from '../testkit.ts'
import { accountsOf } from './accounts.ts'

const NO_KEYS = { securityMode: 'NO_SEC' }
const CREDENTIALS: JsonObject = { bootstrapServer: NO_KEYS, lwm2mServer: NO_KEYS }
const SERVER = {
  ...{ securityMode: 'NO_SEC', shortServerId: 123, bootstrapServerIs: false, host: '0.0.0.0', port: 5685 },
  ...{ clientHoldOffTime: 2, serverPublicKey: '', serverCertificate: '', bootstrapServerAccountTimeout: 7 },
  ...{ lifetime: 300, defaultMinPeriod: 1, notifIfDisabled: true, binding: 'U' },
}
const BOOTSTRAP_SERVER = { ...SERVER, shortServerId: 111, bootstrapServerIs: true, host: '::1', port: 5687 }
const PROFILE: JsonObject = { bootstrapServerUpdateEnable: false, bootstrap: [BOOTSTRAP_SERVER, SERVER] }
const LINK = 40
const NEW_CLIENT = '</>;lwm2m=1.0,</0/0>,</1>,</3/0>'

describe('a client that knows its bootstrap server alone', () => {
  it('is told of the servers of its profile, and that this was all', () =>
    told(PROFILE, async ({ newcomer, transport }) => {
      const one = await newcomer()
      assert.equal(await begin(one), '2.04')
      assert.equal(transport.figures().bootstrapping, 1)
      assert.equal(await one.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT }), 'GET /')
      assert.deepEqual(await taken(one), [
        'PUT /0/1',
        ...['/0/1/0 coap://localhost:5685', '/0/1/1 false', '/0/1/2 3', '/0/1/3 ', '/0/1/4 ', '/0/1/5 '],
        ...['/0/1/11 2', '/0/1/10 123'],
      ])
      assert.deepEqual(await taken(one), [
        'PUT /1/0',
        '/1/0/0 123',
        '/1/0/1 300',
        '/1/0/2 1',
        '/1/0/6 true',
        '/1/0/7 U',
      ])
      assert.equal(await one.answerNext({ code: '2.04' }), 'POST /bs')
      await settled(() => transport.figures().bootstrapping === 0)
      const { bootstrapped, bootstrapsFailed } = transport.figures()
      assert.deepEqual({ bootstrapped, bootstrapsFailed }, { bootstrapped: 1, bootstrapsFailed: 0 })
    }))

  it('is told in the format that it prefers', () =>
    told(PROFILE, async ({ newcomer }) => {
      for (const format of [110, 112]) {
        const one = await newcomer()
        assert.equal(await begin(one, [`pct=${format}`]), '2.04')
        await one.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
        const asked = await one.asked()
        assert.equal(formatOf(asked), format)
        assert.equal((await contentOf(asked))[1], '/0/1/0 coap://localhost:5685')
      }
      assert.equal(await begin(await newcomer(), ['pct=99']), '4.15')
    }))

  it('loses what stood there for the same server, and nothing else', () =>
    told(PROFILE, async ({ newcomer }) => {
      const one = await newcomer()
      await begin(one)
      const links = '</0/0>,</0/1>;ssid=123,</0/2>;ssid=7,</1/0>;ssid=7,</1/3>;ssid=123,</2/0>'
      await one.answerNext({ code: '2.05', format: LINK, payload: links })
      assert.equal(await one.answerNext({ code: '2.02' }), 'DELETE /0/1')
      assert.equal(await one.answerNext({ code: '2.02' }), 'DELETE /1/3')
      assert.equal((await taken(one))[0], 'PUT /0/1')
      assert.equal((await taken(one))[0], 'PUT /1/1')
    }))

  it("keeps the bootstrap server's account, and gets a new one in its place where the profile says so", () =>
    told({ ...PROFILE, bootstrapServerUpdateEnable: true }, async ({ newcomer }) => {
      const one = await newcomer()
      await begin(one)
      await one.answerNext({ code: '2.05', format: LINK, payload: '</0/4>,</1>' })
      const account = await taken(one)
      assert.deepEqual(account.slice(0, 3), ['PUT /0/4', '/0/4/0 coap://[::1]:5687', '/0/4/1 true'])
      assert.ok(account.includes('/0/4/12 7'))
      assert.equal((await taken(one))[0], 'PUT /0/0')
    }))

  it('is refused where nobody has its endpoint, or what it is to be told does not fit', async () => {
    await told(PROFILE, async ({ newcomer, gateway, transport }) => {
      const one = await newcomer()
      assert.equal(await begin(one, [], 'nobody'), '4.00')
      assert.equal(transport.figures().unauthenticated, 1)
      assert.equal(await answer(one, { code: '0.01', path: '/bs' }), '4.05')
      assert.equal(await answer(one, { path: '/rd' }), '4.04')
      gateway.transportType = 'MQTT'
      assert.equal(await begin(one), '4.00')
      gateway.transportType = 'LWM2M'
      gateway.bootstrapCredentials = { ...CREDENTIALS, lwm2mServer: { securityMode: 'PSK' } }
      assert.equal(await begin(one), '4.00')
      gateway.bootstrapCredentials = undefined
      assert.equal(await begin(one), '4.00')
      assert.equal(transport.figures().bootstrapping, 0)
    })
    await told({ bootstrap: [BOOTSTRAP_SERVER] }, async ({ newcomer }) => {
      assert.equal(await begin(await newcomer()), '4.00')
    })
  })

  it('is not told that this was all where it refused some of it', () =>
    told(PROFILE, async ({ newcomer, transport }) => {
      const one = await newcomer()
      await begin(one)
      await one.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
      await one.answerNext({ code: '4.00' })
      await settled(() => transport.figures().bootstrapping === 0)
      assert.equal(transport.figures().bootstrapsFailed, 1)
      // The next one begins at the beginning, and nothing came between.
      await begin(one)
      assert.equal((await one.asked()).text, 'GET /')
    }))

  it('begins anew: what it forgot is not gone on with', () =>
    told(PROFILE, async ({ newcomer, transport }) => {
      const [before, after] = [await newcomer(), await newcomer()]
      await begin(before)
      const forgotten = await before.asked()
      await begin(after)
      assert.equal(transport.figures().bootstrapping, 1)
      before.reply(forgotten, { code: '2.05', format: LINK, payload: NEW_CLIENT })
      await settled(() => transport.figures().bootstrapsFailed === 1)
      await after.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
      await taken(after)
      await taken(after)
      assert.equal(await after.answerNext({ code: '2.04' }), 'POST /bs')
      await settled(() => transport.figures().bootstrapped === 1)
    }))

  it('begins anew: where it came from before is asked no more', () =>
    told(PROFILE, async ({ newcomer, transport, clock }) => {
      const [before, after] = [await newcomer(), await newcomer()]
      await begin(before)
      assert.equal((await before.asked()).text, 'GET /')
      await begin(after)
      await after.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
      await taken(after)
      await taken(after)
      assert.equal(await after.answerNext({ code: '2.04' }), 'POST /bs')
      await settled(() => transport.figures().bootstrapped === 1)
      clock.advance(10_000)
      assert.deepEqual([transport.figures().retransmitted, transport.figures().bootstrapsFailed], [0, 1])
    }))

  it('begins anew in the middle of a long body: its next block is not sent again where it came from before', () =>
    told(
      PROFILE,
      async ({ newcomer, transport, clock }) => {
        const [before, after] = [await newcomer(), await newcomer()]
        await begin(before)
        await before.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
        assert.match((await before.asked()).text, /^PUT \/0\/1 /)
        await begin(after)
        await after.answerNext({ code: '2.05', format: LINK, payload: NEW_CLIENT })
        assert.match((await after.asked()).text, /^PUT \/0\/1 /)
        assert.equal(await begin(before, [], 'nobody'), '4.00')
        const { retransmitted } = transport.figures()
        clock.advance(4000)
        assert.equal(transport.figures().retransmitted - retransmitted, 1, 'the one that goes on')
      },
      { blockBytes: 32 },
    ))

  it('is given up when it takes too long, and has no place more than its tenant', () =>
    told(
      PROFILE,
      async ({ newcomer, clock, transport }) => {
        const [one, two] = [await newcomer(), await newcomer()]
        assert.equal(await begin(one), '2.04')
        assert.equal(await begin(two, [], 'two'), '5.03')
        clock.advance(10_000)
        assert.equal(transport.figures().bootstrapping, 0)
        assert.equal(await begin(two, [], 'two'), '2.04')
      },
      { bootstrapMs: 10_000, maxBootstrapsPerTenant: 1 },
    ))
})

describe('keys', () => {
  const [identity, key] = ['urn:é', '0a0b']
  const withKeys = (securityMode: string): JsonObject => {
    const own = { securityMode, clientPublicKeyOrId: 'QUI=', clientSecretKey: 'Q0Q=' }
    return { bootstrapServer: NO_KEYS, lwm2mServer: own }
  }
  const profile = (more: JsonObject): JsonObject => ({ bootstrap: [{ ...SERVER, ...more }] })
  const shown = (configuration: JsonObject, credentials: JsonObject): readonly string[] => {
    const [account] = accountsOf(configuration, credentials, true)
    return [0, 2, 3, 4, 5].map((id) => {
      const value = account?.security.get(id)
      return value !== undefined && 'bytes' in value ? value.bytes.toString() : String(value?.value)
    })
  }

  it('are the identity and key of the credentials, or keys and certificates with those of the server', () => {
    const psk = {
      securityMode: 'PSK',
      clientPublicKeyOrId: identity,
      clientSecretKey: Buffer.from(key).toString('hex'),
    }
    assert.deepEqual(shown(profile({ securityMode: 'PSK' }), { ...CREDENTIALS, lwm2mServer: psk }), [
      ...['coaps://localhost:5685', '0', identity, '', key],
    ])
    const keyed = {
      serverPublicKey: 'RUY=',
      serverCertificate: '-----BEGIN CERTIFICATE-----\nR0g=\n-----END CERTIFICATE-----',
    }
    const raw = shown(profile({ ...keyed, securityMode: 'RPK' }), withKeys('RPK'))
    assert.deepEqual(raw, ['coaps://localhost:5685', '1', 'AB', 'EF', 'CD'])
    const certified = shown(profile({ ...keyed, securityMode: 'X509' }), withKeys('X509'))
    assert.deepEqual(certified, ['coaps://localhost:5685', '2', 'AB', 'GH', 'CD'])
  })

  it('are told over DTLS alone, and whole', () => {
    const refused = (configuration: JsonObject, isSecret: boolean, reason: RegExp): void => {
      assert.throws(() => accountsOf(configuration, withKeys('RPK'), isSecret), reason)
    }
    const keyed = { securityMode: 'RPK', serverPublicKey: 'RUY=' }
    refused(profile(keyed), false, /keys are told over DTLS alone/)
    refused(profile({ ...keyed, serverPublicKey: '' }), true, /serverPublicKey is missing/)
    refused(profile({ ...keyed, serverPublicKey: '!' }), true, /serverPublicKey is no Base64 text/)
    refused(profile({ ...keyed, shortServerId: 0 }), true, /shortServerId is from 1/)
    refused(profile({ ...keyed, port: 0 }), true, /another shape at 'bootstrap.0.port'/)
    refused({ bootstrap: [1, 2].map(() => ({ ...SERVER, ...keyed })) }, true, /one shortServerId/)
  })
})

async function told(
  configuration: JsonObject,
  run: (bench: Bench) => Promise<void>,
  limits: Parameters<typeof bench>[2] = {},
): Promise<void> {
  await bench(
    configuration,
    (own) => {
      own.gateway.bootstrapCredentials = CREDENTIALS
      return run(own)
    },
    limits,
  )
}

function begin(client: TestClient, more: readonly string[] = [], endpoint = 'one'): Promise<string> {
  return answer(client, { path: '/bs', query: [`ep=${endpoint}`, ...more] })
}

async function answer(client: TestClient, asked: Parameters<TestClient['raw']['send']>[0]): Promise<string> {
  return (await client.answerTo(client.raw.send(asked))).code
}

/** What the client is asked to take, which it does. */
async function taken(client: TestClient): Promise<readonly string[]> {
  const request = await client.asked()
  client.reply(request, { code: '2.04' })
  return contentOf(request)
}

async function contentOf({ text, message }: Request): Promise<readonly string[]> {
  const head = text.split(' ').slice(0, 2).join(' ')
  const path = head
    .slice(head.indexOf('/') + 1)
    .split('/')
    .map(Number)
  const records = await decoded({
    ...{ payload: message.payload, format: formatOf({ text, message }), path, type: undefined },
  })
  return [head, ...records.map(({ path: at, value }) => `${pathText(at)} ${valueOf(at, value)}`)]
}

function valueOf([objectId, , id = 0]: readonly number[], value: Awaited<ReturnType<typeof decoded>>[number]['value']) {
  if (value.kind !== 'encoded') return 'bytes' in value ? value.bytes.toString() : String(value.value)
  const { bytes } = value
  const isText = objectId === 0 ? [0, 3, 4, 5].includes(id) : id === 7
  if (isText) return bytes.toString()
  const isFlag = objectId === 0 ? id === 1 : id === 6
  return isFlag ? String(bytes[0] === 1) : String(bytes.readIntBE(0, bytes.length))
}

function formatOf({ message }: Request): number | undefined {
  const format = message.options.find(({ number }) => number === OptionNumber.CONTENT_FORMAT)?.value
  return [110, 112, 11_542].find((each) => format !== undefined && uintBytes(each).equals(format))
}

async function settled(condition: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (condition()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.fail('it did not come true')
}

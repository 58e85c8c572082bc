/** What clients say when they register, and how long it counts (`device-api.md` 13.1). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DeviceIdentity } from '../../engine/device/gateway.ts'
import { TenantShares } from '../tenant-shares.ts'
import { deviceNamed, FakeGateway, StandingClock } from '../testkit.ts'
import { Registrations } from './registrations.ts'
import { registrationOf, updateOf } from './registration-request.ts'

const AT = { address: '127.0.0.1', port: 40_000, key: '127.0.0.1 40000' }
const LINKS = '</>;rt="oma.lwm2m";ct="60 110 112 11542",</1/0>,</3/0>;ver=1.2,</3303/0>,</3303/1>,</5>'

function query(text: string): ReadonlyMap<string, string> {
  return new Map(new URLSearchParams(text))
}

function request(text = 'ep=one&lt=60&lwm2m=1.1&b=U', body = LINKS) {
  return registrationOf(query(text), body)
}

function lwm2mDevice(name: string): DeviceIdentity {
  return { ...deviceNamed(name), transportType: 'LWM2M' }
}

function bench(perTenant = 100) {
  const gateway = new FakeGateway([])
  const clock = new StandingClock()
  const registrations = new Registrations({
    ...{ gateway, clock, shares: new TenantShares(1000, perTenant) },
    attach: () => ({
      sharedAttributesChanged: () => undefined,
      refreshed: () => undefined,
      updated: () => undefined,
      ended: () => undefined,
    }),
  })
  return { gateway, clock, registrations }
}

describe('a registration request', () => {
  it('says who it is, how long it counts and what the client has', () => {
    assert.deepEqual(request(), {
      endpoint: 'one',
      version: '1.1',
      lifetimeS: 60,
      isQueueMode: false,
      offer: {
        rootPath: '',
        formats: [60, 110, 112, 11_542],
        objects: new Map([
          [1, { version: undefined, instances: [0] }],
          [3, { version: '1.2', instances: [0] }],
          [3303, { version: undefined, instances: [0, 1] }],
          [5, { version: undefined, instances: [] }],
        ]),
      },
    })
  })

  it('counts a day and understands TLV where it does not say', () => {
    const { lifetimeS, offer } = request('ep=one&lwm2m=1.0', '</3/0>')
    assert.equal(lifetimeS, 86_400)
    assert.deepEqual(offer.formats, [11_542])
    assert.deepEqual(request('ep=one&lwm2m=1.1', '</>;ct="60 110",</3/0>').offer.formats, [60, 110])
  })

  it('sleeps by its binding in 1.0, by Q in 1.1', () => {
    const sleeps = (text: string): boolean => request(`ep=one&${text}`).isQueueMode
    assert.deepEqual(['lwm2m=1.0&b=UQ', 'lwm2m=1.1&b=U&Q', 'lwm2m=1.1&b=U', 'lwm2m=1.1'].map(sleeps), [
      ...[true, true, false, false],
    ])
  })

  it('may have its objects elsewhere, beside other things', () => {
    const { offer } = request(undefined, '</lwm2m>;rt="oma.lwm2m";ct=110,</lwm2m/3/0>,</lwm2m/4/0/1>,</time>,</7/0>')
    assert.equal(offer.rootPath, '/lwm2m')
    assert.deepEqual([...offer.objects.keys()], [3])
    assert.deepEqual(offer.formats, [110])
  })

  it('is refused with the code of what is wrong', () => {
    const refused: readonly [string, string, string][] = [
      ['lwm2m=1.1', LINKS, 'BAD_PARAMETER'],
      ['ep=&lwm2m=1.1', LINKS, 'BAD_PARAMETER'],
      [`ep=${'x'.repeat(256)}&lwm2m=1.1`, LINKS, 'BAD_PARAMETER'],
      ['ep=one', LINKS, 'OTHER_VERSION'],
      ['ep=one&lwm2m=2.0', LINKS, 'OTHER_VERSION'],
      ['ep=one&lwm2m=1.1&lt=', LINKS, 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1&lt=00', LINKS, 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1&lt=4294967296', LINKS, 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1&lt=-1', LINKS, 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1&b=X', LINKS, 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1', '</3/0>;ver=new', 'BAD_PARAMETER'],
      ['ep=one&lwm2m=1.1', '3/0', 'BAD_PAYLOAD'],
      ['ep=one&lwm2m=1.1', Array.from({ length: 257 }, (_, id) => `</3303/${id}>`).join(','), 'TOO_MANY_OBJECTS'],
    ]
    for (const [text, body, code] of refused)
      assert.throws(() => request(text, body), { code: `lwm2m.${code}` }, `${text} ${body.slice(0, 30)}`)
  })

  it('says in an update only what changes', () => {
    assert.deepEqual(updateOf(query(''), ''), {})
    assert.deepEqual(updateOf(query('lt=30&b=UQ'), ''), { lifetimeS: 30, isQueueMode: true })
    assert.deepEqual(Object.keys(updateOf(query(''), LINKS)), ['offer'])
  })
})

describe('registrations', () => {
  it('are the lasting session of the device until it leaves', () => {
    const { gateway, registrations } = bench()
    const { id } = registrations.register(lwm2mDevice('one'), request(), AT)
    assert.deepEqual(
      [...gateway.sessions].map(({ device, kind }) => [device.deviceName, kind]),
      [['one', 'lasting']],
    )
    assert.equal(registrations.find(id)?.endpoint, 'one')
    registrations.deregister(id)
    assert.equal(gateway.sessions.size, 0)
    assert.equal(registrations.find(id), undefined)
    assert.throws(() => registrations.deregister(id), { code: 'lwm2m.UNKNOWN_REGISTRATION', status: 404 })
  })

  it('end by silence beyond the lifetime, and not before', () => {
    const { gateway, clock, registrations } = bench()
    registrations.register(lwm2mDevice('one'), request(), AT)
    registrations.register(lwm2mDevice('two'), request('ep=two&lwm2m=1.1&lt=90'), AT)
    clock.advance(59_999)
    assert.equal(registrations.count, 2)
    clock.advance(2001)
    assert.equal(registrations.count, 1)
    clock.advance(30_000)
    assert.equal(registrations.count, 0)
    assert.equal(gateway.sessions.size, 0)
  })

  it('end by the client alone where its lifetime is 0', () => {
    const { clock, registrations } = bench()
    const { id } = registrations.register(lwm2mDevice('one'), request('ep=one&lwm2m=1.1&lt=0'), AT)
    clock.advance(100 * 86_400_000)
    assert.equal(registrations.count, 1)
    registrations.update(id, updateOf(query('lt=60'), ''), AT)
    clock.advance(62_000)
    assert.equal(registrations.count, 0)
  })

  it('go on for a whole lifetime after the last update', () => {
    const { clock, registrations } = bench()
    const { id } = registrations.register(lwm2mDevice('one'), request(), AT)
    clock.advance(1000)
    registrations.update(id, {}, AT)
    clock.advance(59_500)
    assert.equal(registrations.count, 1)
    clock.advance(2000)
    assert.equal(registrations.count, 0)
  })

  it('go on with each update, from where and for how long it says', () => {
    const { gateway, clock, registrations } = bench()
    const { id } = registrations.register(lwm2mDevice('one'), request(), AT)
    for (let update = 0; update < 5; update++) {
      clock.advance(50_000)
      registrations.update(id, {}, { ...AT, port: 40_001 + update })
    }
    assert.equal(registrations.find(id)?.address.port, 40_005)
    assert.equal(gateway.touches, 5)
    registrations.update(id, updateOf(query('lt=4&b=UQ'), '</5/0>'), AT)
    assert.deepEqual([...(registrations.find(id)?.offer.objects.keys() ?? [])], [5])
    assert.equal(registrations.find(id)?.isQueueMode, true)
    clock.advance(6000)
    assert.throws(() => registrations.update(id, {}, AT), { code: 'lwm2m.UNKNOWN_REGISTRATION' })
  })

  it('take the place of the one that the device had', () => {
    const { gateway, registrations } = bench(1)
    const first = registrations.register(lwm2mDevice('one'), request(), AT)
    const second = registrations.register(lwm2mDevice('one'), request(), AT)
    assert.notEqual(first.id, second.id)
    assert.equal(registrations.find(first.id), undefined)
    assert.deepEqual([...gateway.sessions], [second.session])
  })

  it('end with the session, whatever ends that', () => {
    const { gateway, registrations } = bench()
    registrations.register(lwm2mDevice('one'), request(), AT)
    for (const { listener } of gateway.sessions) listener.closed('CREDENTIALS_CHANGED')
    assert.equal(registrations.count, 0)
  })

  it('are for devices whose profile is of LwM2M alone', () => {
    const { registrations } = bench()
    assert.throws(() => registrations.register(deviceNamed('one'), request(), AT), {
      code: 'lwm2m.OTHER_TRANSPORT',
      status: 403,
    })
  })

  it('have bounds by tenant, and a refused one takes no place', () => {
    const { gateway, registrations } = bench(2)
    const { id } = registrations.register(lwm2mDevice('one'), request(), AT)
    gateway.openSession = () => {
      throw new Error('no room')
    }
    assert.throws(() => registrations.register(lwm2mDevice('two'), request(), AT), /no room/)
    Reflect.deleteProperty(gateway, 'openSession')
    registrations.register(lwm2mDevice('two'), request(), AT)
    assert.throws(() => registrations.register(lwm2mDevice('three'), request(), AT), { code: 'lwm2m.NO_ROOM' })
    registrations.register(lwm2mDevice('foreign'), request(), AT)
    registrations.deregister(id)
    registrations.register(lwm2mDevice('three'), request(), AT)
    registrations.close()
    assert.equal(registrations.count, 0)
    assert.equal(gateway.sessions.size, 0)
  })

  it('leave no timer and no place behind, however often a lifetime changes', () => {
    const { clock, registrations } = bench()
    const { id } = registrations.register(lwm2mDevice('one'), request(), AT)
    for (let lifetimeS = 2; lifetimeS < 5000; lifetimeS++) registrations.update(id, { lifetimeS }, AT)
    assert.equal(registrations.waiting, 1)
    clock.advance(4_000_000)
    assert.equal(registrations.count, 1)
    clock.advance(1_002_000)
    assert.equal(registrations.count, 0)
    registrations.deregister(registrations.register(lwm2mDevice('one'), request(), AT).id)
    assert.equal(registrations.waiting, 0)
  })
})

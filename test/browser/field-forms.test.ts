/** The forms of zones, propagation and figures, in a real browser on the real program: filled, refused at the field, saved and seen at work. */
import assert from 'node:assert/strict'
import type { Browser } from '../support/browser.ts'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

interface EntityId {
  readonly entityType: string
  readonly id: string
}

interface Field {
  readonly name: string
  readonly configuration: Readonly<Record<string, unknown>>
}

class Tenant {
  private readonly running: RunningMillrace
  private readonly rest: RestClient

  private constructor(running: RunningMillrace, rest: RestClient) {
    this.running = running
    this.rest = rest
  }

  static async of(running: RunningMillrace): Promise<Tenant> {
    return new Tenant(running, new RestClient(running, await login(running)))
  }

  async device(name: string): Promise<EntityId> {
    return { entityType: 'DEVICE', id: await this.rest.createDevice(name, name.toUpperCase()) }
  }

  async asset(name: string): Promise<EntityId> {
    return (await this.rest.expect<{ id: EntityId }>('POST', '/api/asset', { name })).id
  }

  async contains(from: EntityId, to: EntityId): Promise<void> {
    await this.rest.expect('POST', '/api/relation', { from, to, type: 'Contains', typeGroup: 'COMMON' })
  }

  async attribute({ entityType, id }: EntityId, values: object): Promise<void> {
    await this.rest.expect('POST', `/api/plugins/telemetry/${entityType}/${id}/attributes/SERVER_SCOPE`, values)
  }

  async send(token: string, values: object): Promise<void> {
    const body = JSON.stringify(values)
    assert.equal((await fetch(`${this.running.url}/api/v1/${token}/telemetry`, { method: 'POST', body })).status, 200)
  }

  async latest({ entityType, id }: EntityId, key: string): Promise<string | null | undefined> {
    const path = `/api/plugins/telemetry/${entityType}/${id}/values/timeseries?keys=${key}`
    const found = await this.rest.expect<Record<string, readonly { value: string | null }[]>>('GET', path)
    return found[key]?.[0]?.value
  }

  async field({ entityType, id }: EntityId): Promise<Field> {
    const path = `/api/${entityType}/${id}/calculatedFields?pageSize=10&page=0`
    const { data } = await this.rest.expect<{ data: readonly Field[] }>('GET', path)
    assert(data[0] !== undefined)
    return data[0]
  }
}

function begun(type: string, { entityType, id }: EntityId): string {
  const query = new URLSearchParams({ type, entityType, id, name: 'Of a form' })
  return `/calculatedFields/new?${query.toString()}`
}

/** Of the one with that name, or of the one at `index`; as somebody who types or chooses. */
async function fill(browser: Browser, name: string, value: string, index = 0): Promise<void> {
  await browser.find(`main [name=${name}]`)
  await browser.run(`
    const at = [...document.querySelectorAll('main [name=${name}]')].at(${index})
    at.value = ${JSON.stringify(value)}
    for (const event of ['input', 'change']) at.dispatchEvent(new Event(event, { bubbles: true }))`)
}

/** What stands at the field that has the focus. */
async function misfit(browser: Browser): Promise<unknown> {
  await browser.find('[aria-invalid]')
  return browser.run(`
    const at = document.activeElement
    return [at.name, document.getElementById(at.getAttribute('aria-describedby'))?.textContent]`)
}

const REFUSED = { complaints: [/api\/calculatedField.*400/] }
const NARROW = { width: 500, height: 900 } as const
const SQUARE = [
  [0, 0],
  [0, 10],
  [10, 10],
  [10, 0],
] as const

seen(
  'geofencing: zones are found along relations, a group that lacks something is refused at its field, and who enters is told',
  async (browser, running) => {
    const tenant = await Tenant.of(running)
    const [cart, yard] = [await tenant.device('Cart'), await tenant.asset('Yard')]
    await tenant.contains(cart, yard)
    await logIn(browser, running, DEMO_TENANT)
    await browser.sees('Devices')
    await browser.open(running.url + begun('GEOFENCING', cart))
    await (await browser.named('See what it finds now')).click()
    await browser.sees(/1 zone:\s+Yard \(it has no server attribute "perimeter"\)/)
    await tenant.attribute(yard, { perimeter: SQUARE })
    await (await browser.named('See what it finds now')).click()
    await browser.sees(/1 zone:\s+Yard\s/)
    for (const step of [1, 2]) {
      await (await browser.named('Look a step further')).click()
      assert.equal(await (await browser.focused()).label(), 'Related as', `step ${step}`)
    }
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['source', 'must be less than or equal to 2'])
    await (await browser.named('Leave out the last step')).click()
    await (await browser.named('Leave out the last step')).click()
    await (await browser.named('Add a group of zones')).click()
    assert.equal(await (await browser.focused()).label(), 'Called')
    await browser.press('zones')
    await fill(browser, 'source', 'ENTITY', -1)
    await browser.run("document.querySelectorAll('[name^=zone-entity]')[1].value = 'Nowhere'")
    await (await browser.named('Save')).click()
    const [, unknown] = Array.from((await misfit(browser)) as string[])
    assert.match(unknown ?? '', /There is no entity of this name/)
    await browser.run(`
      const at = document.querySelectorAll('[name^=zone-entity]')[1]
      at.value = 'Yard'
      at.dispatchEvent(new Event('input'))`)
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['group', 'Two groups are called "zones": give one another name.'])
    await fill(browser, 'group', 'yard', 1)
    await (await browser.find('fieldset:nth-of-type(2) [name=relates]')).click()
    await fill(browser, 'zoneRelation', 'IsIn', 1)
    await (await browser.named('Save')).click()
    await browser.sees('What it did')
    const { configuration } = await tenant.field(cart)
    const text = JSON.stringify(configuration['zoneGroups'])
    assert.match(text, /"zones":\{"refDynamic.*"levels":\[\{"direction":"FROM","relationType":"Contains"\}\]/)
    assert.match(text, new RegExp(`"yard":\\{"refEntityId":\\{"entityType":"ASSET","id":"${yard.id}"\\}.*"IsIn"`))
    await tenant.send('CART', { latitude: 5, longitude: 5 })
    await until(async () => (await tenant.latest(cart, 'yardEvent')) === 'ENTERED')
    await until(async () => (await tenant.latest(cart, 'zonesStatus')) === 'INSIDE')
    await until(async () =>
      /Yard/.test(String(await browser.run("return document.querySelectorAll('[name^=zone-entity]')[1].value"))),
    )
  },
  REFUSED,
)

seen('geofencing: of many zones only those that are shown are asked for their perimeter', async (browser, running) => {
  const tenant = await Tenant.of(running)
  const rover = await tenant.device('Rover')
  const zones = await Promise.all(Array.from({ length: 23 }, (_, index) => tenant.asset(`Zone ${index}`)))
  await Promise.all(zones.map((zone) => tenant.contains(rover, zone)))
  await logIn(browser, running, DEMO_TENANT)
  await browser.sees('Devices')
  await browser.open(running.url + begun('GEOFENCING', rover))
  await (await browser.named('See what it finds now')).click()
  await browser.sees(/23 zones:\s+Zone/)
  const asked =
    "return performance.getEntriesByType('resource').filter(({ name }) => name.includes('SERVER_SCOPE?keys=perimeter')).length"
  assert.equal(await browser.run(asked), 20)
})

seen(
  'propagation: whom it reaches is shown, a script is tried, and the values arrive',
  async (browser, running) => {
    const tenant = await Tenant.of(running)
    const [probe, hall] = [await tenant.device('Probe'), await tenant.asset('Probed')]
    await tenant.contains(hall, probe)
    await tenant.send('PROBE', { warmth: 1 })
    await until(async () => (await tenant.latest(probe, 'warmth')) === '1')
    await logIn(browser, running, DEMO_TENANT)
    await browser.sees('Devices')
    await browser.open(running.url + begun('PROPAGATION', probe))
    await (await browser.named('See what it finds now')).click()
    await browser.sees(/1 entity:\s+Probed/)
    await (await browser.find('input[name=argumentKey]')).click()
    await browser.find('datalist option[value=warmth]')
    await fill(browser, 'argumentKey', 'warmth')
    await fill(browser, 'argument', 'w')
    await fill(browser, 'kind', 'TS_ROLLING')
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['way', '"w" is a window of values: a script makes values of it.'])
    await fill(browser, 'kind', 'TS_LATEST')
    await (await browser.named('Save')).click()
    await browser.sees('What it did')
    await tenant.send('PROBE', { warmth: 7 })
    await until(async () => (await tenant.latest(hall, 'w')) === '7')
    await fill(browser, 'way', 'SCRIPT')
    await fill(browser, 'expression', 'return {"double": w * 2};')
    await (await browser.named('Try it on values')).click()
    await (await browser.named('Try it')).click()
    await browser.sees(/It makes this, and nothing is kept:\s+\{"double":40/)
    await (await browser.named('Save')).click()
    await browser.sees('Saved: it counts from the next value on.')
    await tenant.send('PROBE', { warmth: 8 })
    await until(async () => (await tenant.latest(hall, 'double')) === '16')
  },
  NARROW,
)

seen(
  'figures over related entities: keys of those are offered, a filter is tried, an interval that is too short is refused at its field',
  async (browser, running) => {
    const tenant = await Tenant.of(running)
    const hall = await tenant.asset('Counted')
    for (const [name, load] of [
      ['Pump1', 10],
      ['Pump2', 30],
    ] as const) {
      await tenant.contains(hall, await tenant.device(name))
      await tenant.send(name.toUpperCase(), { load })
    }
    await logIn(browser, running, DEMO_TENANT)
    await browser.sees('Devices')
    await browser.open(running.url + begun('RELATED_ENTITIES_AGGREGATION', hall))
    await (await browser.named('See what it finds now')).click()
    await browser.sees(/2 entities:[^]*Pump1/)
    await (await browser.find('input[name=argumentKey]')).click()
    await browser.find('datalist option[value=load]')
    await fill(browser, 'argumentKey', 'load')
    // The figure follows the name of its argument.
    await fill(browser, 'argument', 'l')
    assert.equal(await browser.run("return document.querySelector('[name=metricOf]').value"), 'l')
    await (await browser.named('Add a figure')).click()
    assert.equal(await (await browser.focused()).label(), 'Key')
    await browser.press('mean')
    await fill(browser, 'counted', 'FILTER', -1)
    await fill(browser, 'filter', 'return l > 20;', -1)
    await fill(browser, 'function', 'COUNT', -1)
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['metric', 'Two figures have the key "mean": give one another.'])
    await fill(browser, 'metric', 'busy', -1)
    await (await browser.named('Try it on values')).click()
    await (await browser.named('Try it')).click()
    await browser.sees('busy, whether a value counts: false')
    await fill(browser, 'every', '2')
    await (await browser.named('Add an argument')).click()
    await fill(browser, 'argument', 'l', -1)
    await fill(browser, 'argumentKey', 'other', -1)
    await (await browser.named('Save')).click()
    const twice = 'Two arguments are called "l": give one another name.'
    assert.deepEqual(await misfit(browser), ['argument', twice])
    await fill(browser, 'argument', 'unused', -1)
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['every', 'must be greater than or equal to 10'])
    await fill(browser, 'every', '10')
    await (await browser.named('Save')).click()
    await browser.sees('What it did')
    const { metrics } = (await tenant.field(hall)).configuration
    assert.deepEqual(metrics, {
      mean: { function: 'AVG', input: { type: 'key', key: 'l' } },
      busy: { function: 'COUNT', filter: 'return l > 20;', input: { type: 'key', key: 'l' } },
    })
    await until(
      async () => (await tenant.latest(hall, 'mean')) === '20.0' || (await tenant.latest(hall, 'mean')) === '20',
    )
    await until(async () => (await tenant.latest(hall, 'busy')) === '1')
  },
  REFUSED,
)

seen(
  'figures over intervals: a zone that is none is refused at its field, and an interval of its own is stored',
  async (browser, running) => {
    const tenant = await Tenant.of(running)
    const meter = await tenant.device('Meter')
    await logIn(browser, running, DEMO_TENANT)
    await browser.sees('Devices')
    await browser.open(running.url + begun('ENTITY_AGGREGATION', meter))
    await fill(browser, 'zone', 'Europe/Nowhere')
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['zone', "is no time zone: 'Europe/Nowhere'"])
    await fill(browser, 'zone', 'Europe/Berlin')
    await fill(browser, 'interval', 'CUSTOM')
    await fill(browser, 'length', '1')
    await fill(browser, 'lengthUnit', '3600')
    await fill(browser, 'offset', '90')
    await (await browser.named('Save')).click()
    assert.deepEqual(await misfit(browser), ['offset', 'must be from 0 to less than 3600'])
    await fill(browser, 'offset', '5')
    await fill(browser, 'watermark', '2')
    await fill(browser, 'watermarkUnit', '86400')
    await fill(browser, 'metricOf', '')
    await fill(browser, 'metricScript', 'return t * 2;')
    // A figure that a script makes stays one, whatever arguments come.
    await (await browser.named('Add an argument')).click()
    await fill(browser, 'argumentKey', 'power', -1)
    await fill(browser, 'argument', 'p', -1)
    await (await browser.named('Add a figure')).click()
    await fill(browser, 'metric', 'powers', -1)
    await fill(browser, 'metricOf', 'p', -1)
    // The names of two are alike while one of them is typed.
    for (const name of ['t', 'tp']) await fill(browser, 'argument', name, -1)
    await (await browser.named('Save')).click()
    await browser.sees('What it did')
    const { interval, watermark, metrics } = (await tenant.field(meter)).configuration
    assert.deepEqual(interval, { type: 'CUSTOM', tz: 'Europe/Berlin', offsetSec: 300, durationSec: 3600 })
    assert.deepEqual(watermark, { duration: 172_800 })
    assert.deepEqual(metrics, {
      mean: { function: 'AVG', input: { type: 'function', function: 'return t * 2;' } },
      powers: { function: 'AVG', input: { type: 'key', key: 'tp' } },
    })
  },
  { ...REFUSED, ...NARROW },
)

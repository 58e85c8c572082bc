/** What holds for every page: names for who does not see it, one heading, nothing cut off, nothing that the browser complains of. */
import assert from 'node:assert/strict'
import type { Browser } from '../support/browser.ts'
import { DEMO_CUSTOMER, DEMO_SYSADMIN, DEMO_TENANT, DEMO_TOKEN, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import type { RunningMillrace } from '../support/start-millrace.ts'
import { CALCULATED_FIELD_TYPES } from '../../model/calculated-fields/configuration.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

/** Answers what is wrong with the page that is shown, with all that folds up unfolded. */
const FAULTS = `
  const faults = []
  const told = (element) => element.outerHTML.slice(0, 120)
  for (const element of document.querySelectorAll('input, select, textarea'))
    if (element.labels.length === 0 && !element.hasAttribute('aria-label')) faults.push('no label: ' + told(element))
  for (const element of document.querySelectorAll('a, button, summary'))
    if ((element.getAttribute('aria-label') ?? element.textContent).trim() === '') faults.push('no name: ' + told(element))
  for (const element of document.querySelectorAll('[role=img], [role=region], dialog'))
    if ((element.getAttribute('aria-label') ?? '') === '') faults.push('no name: ' + told(element))
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: #' + id)
  if (document.querySelectorAll('h1').length !== 1) faults.push('headings: ' + document.querySelectorAll('h1').length)
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth > clientWidth) faults.push('cut off: ' + scrollWidth + ' in ' + clientWidth)
  return faults`

async function look(browser: Browser, { url }: RunningMillrace, paths: readonly string[]): Promise<void> {
  const faults: Record<string, unknown> = {}
  for (const path of paths) {
    await browser.open(url + path)
    // Its title is the last thing that a page has.
    await until(async () => / - Millrace$/.test(String(await browser.run('return document.title'))))
    await browser.run("for (const each of document.querySelectorAll('main details')) each.open = true")
    await until(async () => (await browser.run("return document.body.innerText.includes('Loading …')")) === false)
    const found = await browser.run(FAULTS)
    if (!Array.isArray(found) || found.length > 0) faults[path] = found
  }
  assert.deepEqual(faults, {})
}

const NARROW = { width: 500, height: 900 } as const

seen(
  'an administrator finds each page whole, in a narrow window too',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const first = async (path: string) => {
      const { data } = await rest.expect<{ data: { id: { id: string } }[] }>('GET', `${path}?pageSize=1&page=0`)
      return data[0]?.id.id ?? ''
    }
    const made = async (path: string, body: object) =>
      (await rest.expect<{ id: { id: string } }>('POST', path, body)).id.id
    const sent = await fetch(`${running.url}/api/v1/${DEMO_TOKEN}/telemetry`, { method: 'POST', body: '{"heat":1}' })
    assert.equal(sent.status, 200)
    const asset = await made('/api/asset', { name: 'A house with a long name, as houses have' })
    const dashboard = await made('/api/dashboard', { title: 'Empty', configuration: {} })
    const integration = await made('/api/integration', {
      ...{ name: 'Webhook', type: 'HTTP', configuration: {} },
      converter: { script: "return {deviceName: 'x'};" },
    })
    const field = await made('/api/calculatedField', {
      ...{ entityId: { entityType: 'ASSET', id: asset }, type: 'SIMPLE', name: 'Double' },
      configuration: {
        ...{ type: 'SIMPLE', expression: 't * 2', output: { type: 'TIME_SERIES', name: 'double' } },
        arguments: { t: { refEntityKey: { key: 'heat', type: 'TS_LATEST' } } },
      },
    })
    const view = await made('/api/entityView', {
      ...{ name: 'View', type: 'house', entityId: { entityType: 'ASSET', id: asset }, startTimeMs: 0, endTimeMs: 0 },
      keys: { timeseries: ['heat'], attributes: { cs: [], ss: [], sh: [] } },
    })
    const begun = CALCULATED_FIELD_TYPES.map(
      (type) => `/calculatedFields/new?type=${type}&entityType=ASSET&id=${asset}`,
    )
    await logIn(browser, running)
    await browser.sees('1 to')
    await look(browser, running, [
      ...['/dashboards', `/dashboards/${dashboard}`, '/devices', `/devices/${await first('/api/tenant/devices')}`],
      ...['/assets', `/assets/${asset}`, '/alarms', '/profiles', `/profiles/${await first('/api/deviceProfiles')}`],
      ...['/packages', '/integrations', `/integrations/${integration}`, '/failures', '/usage', '/audit', '/account'],
      ...['/customers', `/customers/${await first('/api/customers')}`, '/users', `/users/${await first('/api/users')}`],
      ...['/assetProfiles', `/assetProfiles/${await first('/api/assetProfiles')}`, '/queues'],
      ...['/calculatedFields', `/calculatedFields/${field}`, ...begun],
      ...['/entityViews', `/entityViews/${view}`],
      ...['/ruleChains', `/ruleChains/${await first('/api/ruleChains')}`],
    ])
  },
  NARROW,
)

seen(
  'the system administrator finds each page whole',
  async (browser, running) => {
    const system = new RestClient(running, await login(running, DEMO_SYSADMIN))
    const first = async (path: string) => {
      const { data } = await system.expect<{ data: { id: { id: string } }[] }>('GET', `${path}?pageSize=1&page=0`)
      return data[0]?.id.id ?? ''
    }
    const queue = await system.expect<{ id: { id: string } }>('GET', '/api/queues/name/Main')
    await logIn(browser, running, DEMO_SYSADMIN)
    await browser.sees('1 to')
    await look(browser, running, [
      ...['/tenants', `/tenants/${await first('/api/tenants')}`, '/settings', '/workers', '/failures', '/audit'],
      ...['/tenantProfiles', `/tenantProfiles/${await first('/api/tenantProfiles')}`, '/account'],
      ...['/queues', `/queues/${queue.id.id}`],
    ])
  },
  { ...NARROW, colours: 'dark' },
)

seen(
  'a user of a customer finds each page whole, and is led to the own where the other is not for customers',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running, DEMO_TENANT))
    const { data } = await rest.expect<{ data: { id: { id: string } }[] }>(
      'GET',
      '/api/tenant/devices?pageSize=1&page=0&textSearch=Demo',
    )
    await logIn(browser, running, DEMO_CUSTOMER)
    await browser.sees('1 to')
    await look(browser, running, [
      ...['/dashboards', '/devices', `/devices/${data[0]?.id.id ?? ''}`, '/assets', '/alarms', '/account'],
      ...['/entityViews', '/workers', '/profiles'],
    ])
  },
  NARROW,
)

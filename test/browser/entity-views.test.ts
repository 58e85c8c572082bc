/** Entity views, in a real browser on the real program: chosen values of a device over some time, seen by a customer. */
import assert from 'node:assert/strict'
import { DEMO_CUSTOMER, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

interface View {
  readonly id: { readonly id: string }
  readonly keys: unknown
  readonly startTimeMs: number
  readonly endTimeMs: number
}

seen('a view shows the values that were chosen, to the customer it is assigned to', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const device = await rest.createDevice('Meter', 'METER')
  const sent = await fetch(`${running.url}/api/v1/METER/telemetry`, { method: 'POST', body: '{"energy":7,"hidden":8}' })
  assert.equal(sent.status, 200)
  const keys = () => rest.expect<string[]>('GET', `/api/plugins/telemetry/DEVICE/${device}/keys/timeseries`)
  await until(async () => (await keys()).length === 2)
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2FentityViews')
  await browser.sees('There are no entity views')
  await (await browser.named('Add an entity view')).click()
  await (await browser.find('input[name=name]')).type('Meter for its tenant')
  await (await browser.find('input[name=type]')).type('meter')
  await (await browser.find('input[name=source]')).type('Meter')
  await (await browser.named('Add the entity view')).click()
  await browser.sees('It shows no values')
  await browser.sees('It has: energy, hidden')
  const { data } = await rest.expect<{ data: View[] }>('GET', '/api/tenant/entityViewInfos?pageSize=10&page=0')
  const id = data[0]?.id.id ?? ''
  await (await browser.find('input[name=timeseries]')).type('energy, energy')
  await browser.choose('select[name=customer]', 'Customer A')
  await browser.run("document.querySelector('input[name=start]').value = '2020-01-02T03:04:05'")
  await browser.run("document.querySelector('input[name=end]').value = '2020-01-01T00:00:00'")
  await (await browser.named('Save')).click()
  await browser.sees('It would end before it begins')
  await browser.run("document.querySelector('input[name=end]').value = ''")
  await (await browser.named('Save')).click()
  await browser.sees('Saved.')
  const { startTimeMs, endTimeMs, keys: shown } = await rest.expect<View>('GET', `/api/entityView/${id}`)
  assert.deepEqual(shown, { timeseries: ['energy'], attributes: { cs: [], ss: [], sh: [] } })
  assert.deepEqual([new Date(startTimeMs).getFullYear(), endTimeMs], [2020, 0])
  await browser.sees(/Latest values[^]*energy\s+7/)
  await (await browser.named('Log out')).click()
  await browser.find('input[name=username]')
  await logIn(browser, running, DEMO_CUSTOMER, `/login?next=%2FentityViews%2F${id}`)
  const page = await browser.sees(/Latest values[^]*energy\s+7/)
  assert.doesNotMatch(page, /hidden|Settings/)
  await browser.open(`${running.url}/entityViews`)
  await (await browser.named('Meter for its tenant')).click()
  await browser.sees('What it shows now')
})

seen('a customer beyond those that are offered is shown, and another one found by name', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  type Made = { readonly id: { readonly id: string } }
  const made = async (title: string) => rest.expect<Made>('POST', '/api/customer', { title })
  // As many as a choice offers come before these.
  for (let first = 0; first < 500; first += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => made(`A ${String(first + index).padStart(3, '0')}`)))
  const last = await made('Zuse')
  await made('Zweig')
  const asset = await rest.expect<Made>('POST', '/api/asset', { name: 'Hall' })
  await rest.expect('POST', `/api/customer/${last.id.id}/asset/${asset.id.id}`)
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fassets%2F${asset.id.id}`)
  await (await browser.named('Settings')).click()
  await browser.find('select[name=customer]')
  const chosen = "return document.querySelector('select[name=customer]').selectedOptions[0].textContent"
  assert.equal(await browser.run(chosen), 'Zuse')
  await (await browser.named('Save')).click()
  await browser.sees('Saved.')
  const owner = async () =>
    (await rest.expect<{ customerId: { id: string } }>('GET', `/api/asset/${asset.id.id}`)).customerId.id
  assert.equal(await owner(), last.id.id)
  await browser.choose('select[name=customer]', 'another one')
  await (await browser.find('input[name=customerName]')).type('Zweig')
  await (await browser.named('Save')).click()
  await until(async () => (await owner()) !== last.id.id)
})

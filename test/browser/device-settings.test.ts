/** What an administrator changes of a device, in a real browser on the real program. */
import assert from 'node:assert/strict'
import { DEMO_CUSTOMER, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests()

seen('a device gets another name, profile and token, and goes', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.expect('POST', '/api/deviceProfile', {
    ...{ name: 'Looms', type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' },
  })
  const id = await rest.createDevice('Loom', 'LOOM')
  const send = async (token: string) =>
    (await fetch(`${running.url}/api/v1/${token}/telemetry`, { method: 'POST', body: '{"speed":1}' })).status
  assert.equal(await send('LOOM'), 200)
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fdevices%2F${id}`)
  await (await browser.named('Settings')).click()
  await browser.sees('Whoever knows it sends as this device')
  await (await browser.find('input[name=name]')).type(' 2')
  await browser.choose('select[name=profile]', 'Looms')
  await (await browser.named('Save')).click()
  await browser.sees(/Loom 2\s+Looms · /)
  const device = await rest.expect<{ name: string; type: string }>('GET', `/api/device/${id}`)
  assert.deepEqual([device.name, device.type], ['Loom 2', 'Looms'])
  await (await browser.named('Make another token')).click()
  // Enter alone changes nothing.
  assert.equal(await (await browser.focused()).text(), 'Cancel')
  await browser.run("document.querySelector('dialog .danger').click()")
  await browser.find('[aria-label="Copy: the token"]')
  await browser.run(`
      return new Promise((done) => {
        const look = () => (document.querySelector('dialog') === null ? done(true) : setTimeout(look, 20))
        look()
      })`)
  const { credentialsId } = await rest.expect<{ credentialsId: string }>('GET', `/api/device/${id}/credentials`)
  assert.match(credentialsId, /^[0-9a-z]{20}$/)
  await browser.sees(credentialsId)
  await until(async () => (await send('LOOM')) === 401)
  assert.equal(await send(credentialsId), 200)
  await (await browser.named('Delete the device')).click()
  await (await browser.named('Delete "Loom 2" with its values for ever')).click()
  assert.doesNotMatch(await browser.sees(/1 to \d+ of \d+/), /Loom/)
  assert.equal((await rest.call('GET', `/api/device/${id}`)).status, 404)
})

seen('a user of a customer finds no settings there', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const { data } = await rest.expect<{ data: { id: { id: string } }[] }>(
    'GET',
    '/api/tenant/devices?pageSize=1&page=0&textSearch=Demo',
  )
  await logIn(browser, running, DEMO_CUSTOMER, `/login?next=%2Fdevices%2F${data[0]?.id.id ?? ''}`)
  await browser.sees('Relations')
  const unfolding = String(
    await browser.run("return [...document.querySelectorAll('main summary')].map((each) => each.textContent).join()"),
  )
  assert.equal(unfolding, 'How it sends,Attributes,Relations,Alarms')
})

seen('what was renamed is asked for by its new name before it goes', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  type Made = { readonly id: { readonly entityType: string; readonly id: string } }
  const { id: customerId } = await rest.expect<Made>('POST', '/api/customer', { title: 'Mill' })
  const user = await rest.expect<Made>('POST', '/api/user?sendActivationMail=false', {
    ...{ email: 'old@mill.example', authority: 'CUSTOMER_USER', customerId },
  })
  await rest.expect('POST', '/api/dashboard', { title: 'Looms', configuration: {} })
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fcustomers%2F${customerId.id}`)
  await (await browser.find('input[name=title]')).type(' Street')
  await (await browser.named('Rename')).click()
  await browser.sees('Renamed.')
  await (await browser.named('Delete the customer')).click()
  await browser.named('Delete "Mill Street" with its users for ever')
  await browser.open(`${running.url}/users/${user.id.id}`)
  await browser.find('input[name=email]')
  await browser.run("document.querySelector('input[name=email]').value = 'new@mill.example'")
  await (await browser.named('Save')).click()
  await browser.sees('Saved.')
  await (await browser.named('Delete the user')).click()
  await browser.named('Delete new@mill.example for ever')
  await browser.open(`${running.url}/dashboards`)
  await (await browser.find('[aria-label="Settings of Looms"]')).click()
  await (await browser.find('dialog input[name=title]')).type(' 2')
  await (await browser.named('Rename')).click()
  await browser.sees('Renamed.')
  await (await browser.named('Delete the dashboard')).click()
  await browser.named('Delete "Looms 2" for ever')
})

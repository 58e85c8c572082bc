/** Users, customers and settings in a real browser on the real program. */
import assert from 'node:assert/strict'
import { totpCode, totpStep } from '../../services/users/totp.ts'
import { KEYS } from '../support/browser.ts'
import { DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'

const seen = consoleTests()

seen(
  'a user is added with a link, locked out, let in again and deleted',
  async (browser, running) => {
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fusers')
    await (await browser.named('Add a user')).click()
    await (await browser.find('input[name=email]')).type('ida@mill.example')
    await (await browser.find('input[name=firstName]')).type('Ida')
    await (await browser.named('Add the user')).click()
    const link = /http:\S+activateToken=\S+/.exec(await browser.sees('activateToken='))?.[0] ?? ''
    const token = new URL(link).searchParams.get('activateToken')
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ activateToken: token, password: 'secret1' })
    const activated = await fetch(`${running.url}/api/noauth/activate?sendActivationMail=false`, {
      method: 'POST',
      headers,
      body,
    })
    assert.equal(activated.status, 200)
    await (await browser.named('ida@mill.example')).click()
    await browser.sees('administrator · may log in')
    await (await browser.named('Lock out')).click()
    await browser.sees('The user may not log in any more')
    const wanted = { username: 'ida@mill.example', password: 'secret1' }
    await assert.rejects(login(running, wanted))
    await (await browser.named('Let in again')).click()
    await browser.sees('The user may log in again')
    await login(running, wanted)
    await (await browser.named('Delete the user')).click()
    assert.equal(await (await browser.focused()).text(), 'No, keep it')
    await (await browser.named('Delete ida@mill.example for ever')).click()
    assert.doesNotMatch(await browser.sees(/1 to \d+ of \d+/), /ida@/)
    await assert.rejects(login(running, wanted))
  },
  { width: 500, height: 900, colours: 'dark' },
)

seen('a customer is made, and gets a device and a dashboard by their names', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  await rest.createDevice('Wheel 1', 'WHEEL_1')
  await rest.createDevice('Wheel 10', 'WHEEL_10')
  await rest.expect('POST', '/api/dashboard', { title: 'Wheels', configuration: {} })
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fcustomers')
  await (await browser.named('Add a customer')).click()
  await (await browser.find('input[name=title]')).type(`Miller${KEYS.enter}`)
  await browser.sees('No devices.')
  await (await browser.find('input[name=device]')).type(`Wheel 1${KEYS.enter}`)
  await browser.sees('"Wheel 1" is assigned.')
  await (await browser.find('input[name=device]')).type(`Wheel 99${KEYS.enter}`)
  await browser.sees('There is no device of this name')
  await (await browser.find('input[name=dashboard]')).type(`Wheels${KEYS.enter}`)
  await browser.sees('"Wheels" is assigned.')
  const customers = await rest.expect<{ data: { id: { id: string } }[] }>(
    'GET',
    '/api/customers?pageSize=10&page=0&textSearch=Miller',
  )
  const at = `/api/customer/${customers.data[0]?.id.id}`
  const names = async (kind: string) =>
    (await rest.expect<{ data: { name: string }[] }>('GET', `${at}/${kind}?pageSize=10&page=0`)).data.map(
      ({ name }) => name,
    )
  assert.deepEqual([await names('devices'), await names('dashboards')], [['Wheel 1'], ['Wheels']])
  await (await browser.find('[aria-label="Unassign Wheel 1"]')).click()
  await browser.sees('No devices.')
  await (await browser.named('Add a user')).click()
  await (await browser.find('input[name=email]')).type('kai@mill.example')
  await (await browser.named('Add the user')).click()
  await browser.sees('kai@mill.example is there.')
  await browser.sees(/kai@mill\.example\s+user of a customer/)
})

seen(
  'the system administrator offers second factors, a user sets one up, and the login asks for it',
  async (browser, running) => {
    await logIn(browser, running, DEMO_SYSADMIN, '/login?next=%2Fsettings')
    await (await browser.named('Send me a test mail')).click()
    // No mail server listens: it is said, and nothing is saved.
    await browser.find('[role=alert]')
    await (await browser.find('input[value=TOTP]')).click()
    await (await browser.named('Save the second factors')).click()
    await browser.sees('Saved: each user sets up the own')
    const rest = new RestClient(running, await login(running))
    const user = await rest.expect<{ id: { id: string } }>('POST', '/api/user?sendActivationMail=false', {
      email: 'two@mill.example',
      authority: 'TENANT_ADMIN',
    })
    const link = (await rest.call('GET', `/api/user/${user.id.id}/activationLink`)).text
    const body = JSON.stringify({ activateToken: new URL(link).searchParams.get('activateToken'), password: 'secret1' })
    await fetch(`${running.url}/api/noauth/activate?sendActivationMail=false`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    const account = { username: 'two@mill.example', password: 'secret1' }
    await (await browser.named('Log out')).click()
    await browser.sees('Forgot your password')
    await logIn(browser, running, account, '/login?next=%2Faccount')
    await (await browser.named('Set up: An app that makes codes')).click()
    assert.equal(await (await browser.find('svg.qr')).label(), 'The same key as a QR code')
    const secret = (await (await browser.find('pre')).text()).replaceAll(' ', '')
    await (await browser.find('input[name=code]')).type(totpCode(secret, totpStep(Date.now())) + KEYS.enter)
    await browser.sees('An app that makes codes: set up.')
    await (await browser.named('Log out')).click()
    await browser.sees('Forgot your password')
    await logIn(browser, running, account)
    await browser.sees('Second factor')
    await browser.find('input[name=code]')
  },
  { complaints: [/ 4\d\d | 5\d\d /] },
)

seen(
  'a key for programs is made, works, is switched off and deleted; the audit log tells it',
  async (browser, running) => {
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Faccount')
    await (await browser.named('Make a key')).click()
    await (await browser.find('input[name=description]')).type('night report')
    await (await browser.named('Make the key')).click()
    const value = /ApiKey \S+/.exec(await browser.sees(/ApiKey \S+/))?.[0] ?? ''
    const status = async () =>
      (await fetch(`${running.url}/api/auth/user`, { headers: { 'X-Authorization': value } })).status
    assert.equal(await status(), 200)
    await (await browser.find('[aria-label="Switch off: night report"]')).click()
    await browser.sees(/night report\s.*switched off/)
    assert.equal(await status(), 401)
    await (await browser.find('[aria-label="Delete: night report"]')).click()
    await browser.press(KEYS.escape)
    assert.equal(await (await browser.focused()).label(), 'Delete: night report')
    await (await browser.find('input[name=firstName]')).type(`Tess${KEYS.enter}`)
    await browser.sees('Saved.')
    await (await browser.named('Audit log')).click()
    await browser.sees(/tenant@millrace\.local\s+updated\s+user/)
  },
)

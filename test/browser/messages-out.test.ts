/** How mails and texts go out, set up and used in a real browser on the real program. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { startTestMailServer, type TestMailServer } from '../../services/mail/testkit.ts'
import { startTestProxy, type TestProxy } from '../../services/outbound/proxy.testkit.ts'
import { startTestCentre, type TestCentre } from '../../services/sms/testkit.ts'
import { KEYS, type Browser } from '../support/browser.ts'
import { DEMO_SYSADMIN, RestClient, login } from '../support/clients.ts'
import { consoleTests, keepScreenshot, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests({ environment: { OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1' } })
const PROXY_LOGIN = 'me:behind'

let centre: TestCentre
let mail: TestMailServer
let proxy: TestProxy
before(async () => {
  ;[centre, mail, proxy] = await Promise.all([startTestCentre(), startTestMailServer(), startTestProxy(PROXY_LOGIN)])
})
after(async () => {
  centre.close()
  await Promise.all([mail.close(), proxy.close()])
})

async function fill(browser: Browser, members: Readonly<Record<string, string | number>>): Promise<void> {
  for (const [name, value] of Object.entries(members)) {
    await browser.run(`document.querySelector('input[name=${name}]:not(:disabled)').value = ''`)
    await (await browser.find(`input[name=${name}]:not(:disabled)`)).type(String(value))
  }
}

seen('mails go out through an HTTP proxy, whose fields are asked for where there is one', async (browser, running) => {
  await logIn(browser, running, DEMO_SYSADMIN, '/login?next=%2Fsettings')
  await browser.find('input[name=mailFrom]')
  const isShown = () => browser.run("return document.querySelector('input[name=proxyHost]').offsetParent !== null")
  assert.equal(await isShown(), false)
  await fill(browser, { mailFrom: 'mill@example.org', smtpHost: '127.0.0.1', smtpPort: mail.port })
  await (await browser.find('input[name=enableProxy]')).click()
  assert.equal(await isShown(), true)
  await fill(browser, { proxyHost: '127.0.0.1', proxyPort: proxy.port, proxyUser: 'me', proxyPassword: 'behind' })
  await (await browser.named('Send me a test mail')).click()
  await browser.sees('The mail server took it')
  assert.deepEqual([proxy.asked, mail.mails.length], [[`127.0.0.1:${mail.port}`], 1])
  await (await browser.named('Save the mail settings')).click()
  await browser.sees('Saved.')
  const rest = new RestClient(running, await login(running, DEMO_SYSADMIN))
  const { jsonValue } = await rest.expect<{ jsonValue: Record<string, unknown> }>('GET', '/api/admin/settings/mail')
  assert.deepEqual(
    [jsonValue['enableProxy'], jsonValue['proxyHost'], jsonValue['proxyUser'], jsonValue['proxyPassword']],
    [true, '127.0.0.1', 'me', undefined],
  )
  // The password is kept.
  await browser.open(`${running.url}/settings`)
  await (await browser.named('Send me a test mail')).click()
  await browser.sees('The mail server took it')
  assert.equal(mail.mails.length, 2)
})

seen(
  'texts go out by the provider that is set up, and a user has codes on a phone',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running, DEMO_SYSADMIN))
    const times = { minVerificationCodeSendPeriod: 5, totalAllowedTimeForVerification: 600 }
    await rest.expect('POST', '/api/2fa/settings', { providers: [], ...times })
    await logIn(browser, running, DEMO_SYSADMIN, '/login?next=%2Fsettings')
    await browser.find('select[name=smsProvider]')
    await browser.choose('select[name=smsProvider]', 'A short message centre')
    await fill(browser, { host: '127.0.0.1', port: centre.port, systemId: 'mill', sourceAddress: 'Mill' })
    await browser.run("document.querySelector('input[name=systemId]').closest('form').scrollIntoView()")
    const password =
      "document.querySelector('input[name=systemId]').closest('form').querySelector('input[name=password]:not(:disabled)')"
    await browser.run(`${password}.value = 'pass'`)
    await fill(browser, { testNumber: '+15005550001' })
    await (await browser.named('Send a test text')).click()
    await browser.sees('The provider took it')
    assert.deepEqual([centre.logins, centre.numbers, centre.texts], [['pass'], ['15005550001'], ['Test message']])
    await keepScreenshot('the settings of texts', browser)
    await (await browser.named('Save the text settings')).click()
    await browser.sees('Saved.')
    await (await browser.find('input[value=SMS]')).click()
    await (await browser.named('Save the second factors')).click()
    await browser.sees('Saved: each user sets up the own')
    await browser.open(`${running.url}/account`)
    await (await browser.named('Set up: Codes to a phone')).click()
    await (await browser.find('input[name=factorPhone]')).type('+1 (500) 555-0002' + KEYS.enter)
    await browser.sees('A code is on its way.')
    const codeOf = (text: string | undefined) => /^Verification code: (\d{6})$/.exec(text ?? '')?.[1] ?? ''
    await (await browser.find('input[name=code]')).type(codeOf(centre.texts.at(-1)) + KEYS.enter)
    await browser.sees('Codes to a phone: set up.')
    await (await browser.named('Log out')).click()
    await browser.sees('Forgot your password')
    await logIn(browser, running, DEMO_SYSADMIN)
    await browser.sees('Second factor')
    const before = centre.texts.length
    // Not before the time between two codes is over.
    await until(async () => {
      await (await browser.named('Send me a code')).click()
      return centre.texts.length > before
    })
    await (await browser.find('input[name=code]')).type(codeOf(centre.texts.at(-1)) + KEYS.enter)
    await browser.named('Log out')
  },
  { width: 500, height: 900, complaints: [/ 429 /] },
)

/** Messages that fail, in a real browser on the real program: seen with their reason, given up, mended and sent again. */
import assert from 'node:assert/strict'
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'
import { until } from '../support/until.ts'

const seen = consoleTests({
  environment: {
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRIES: '0',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_RETRY_PAUSE: '600',
    TB_QUEUE_RE_MAIN_PROCESSING_STRATEGY_MAX_RETRY_PAUSE: '600',
    QUEUE_TRIES_BEFORE_PARKING: '1',
  },
})

/** What else a device makes the server say does not fail. */
const TELEMETRY_ALONE = {
  type: 'org.thingsboard.rule.engine.filter.TbMsgTypeFilterNode',
  name: 'Telemetry alone',
  configuration: { messageTypes: ['POST_TELEMETRY_REQUEST'] },
}
const SAVE = {
  type: 'org.thingsboard.rule.engine.telemetry.TbMsgTimeseriesNode',
  name: 'Save it',
  configurationVersion: 1,
  configuration: { defaultTTL: 0, useServerTs: false, processingSettings: { type: 'ON_EVERY_MESSAGE' } },
}

interface Made {
  readonly id: { readonly entityType: string; readonly id: string }
  readonly version: number
}

seen('what waits is tried, given up, and sent again once it is mended', async (browser, running) => {
  const rest = new RestClient(running, await login(running))
  const chain = await rest.expect<Made>('POST', '/api/ruleChain', { name: 'fails' })
  const draw = async (node: { readonly type: string; readonly name: string; readonly configuration: object }) => {
    const { version } = await rest.expect<{ version: number }>('GET', `/api/ruleChain/${chain.id.id}/metadata`)
    await rest.expect('POST', '/api/ruleChain/metadata', {
      ...{ ruleChainId: chain.id, version, firstNodeIndex: 0 },
      nodes: [TELEMETRY_ALONE, node],
      connections: [{ fromIndex: 0, toIndex: 1, type: 'True' }],
    })
  }
  // A node that cannot start: what comes to it fails each time.
  await draw({ type: 'org.example.NobodyKnowsNode', name: 'Unknown', configuration: {} })
  const profile = await rest.expect<Made>('POST', '/api/deviceProfile', {
    ...{ name: 'Presses', type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' },
    defaultRuleChainId: chain.id,
  })
  const device = await rest.expect<Made>('POST', '/api/device?accessToken=PRESS', {
    ...{ name: 'Press', deviceProfileId: profile.id },
  })
  const send = (force: number) =>
    fetch(`${running.url}/api/v1/PRESS/telemetry`, { method: 'POST', body: JSON.stringify({ force }) })
  assert.equal((await send(7)).status, 200)
  const tries = async () =>
    (await rest.expect<{ data: { tries: number }[] }>('GET', '/api/parked?pageSize=10&page=0')).data[0]?.tries ?? 0
  await until(async () => (await tries()) > 0)
  const before = await tries()
  await logIn(browser, running, DEMO_TENANT, '/login?next=%2Ffailures')
  await browser.sees(/Main\s+[^]*NobodyKnowsNode/)
  await (await browser.find(`[aria-label="Try now: ${device.id.id}"]`)).click()
  await browser.sees('It is being tried')
  assert.equal(await (await browser.focused()).text(), 'Look again')
  await until(async () => (await tries()) > before)
  await (await browser.find(`[aria-label="Give up: ${device.id.id}"]`)).click()
  await browser.sees('They go to those that were given up')
  await browser.run("document.querySelector('dialog .danger').click()")
  // With what came behind it: the lane keeps the order, whatever of it fails.
  await browser.sees(/Given up[^]*NobodyKnowsNode[^]*"force":7/)
  await draw(SAVE)
  const figures = () => rest.expect<{ nodes: { name: string }[] }>('GET', `/api/ruleChain/${chain.id.id}/statistics`)
  await until(async () => (await figures()).nodes.some(({ name }) => name === SAVE.name))
  const latest = () =>
    rest.expect<{ force?: { value: string | null }[] }>(
      'GET',
      `/api/plugins/telemetry/DEVICE/${device.id.id}/values/timeseries?keys=force`,
    )
  const letters = async () =>
    (await rest.expect<{ data: { id: number; message: { data: string } }[] }>('GET', '/api/deadLetters')).data
  const letter = (await letters()).find(({ message }) => message.data.includes('"force"'))
  assert.ok(letter !== undefined)
  await (await browser.find(`[aria-label="Send again: ${letter.id}"]`)).click()
  await browser.sees('It was sent again')
  await until(async () => (await latest()).force?.[0]?.value === '7')
  assert.ok(!(await letters()).some(({ id }) => id === letter.id))
  assert.doesNotMatch(await browser.sees('It was sent again'), /"force":7/)
})

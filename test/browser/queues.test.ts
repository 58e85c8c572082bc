/** Queues and asset profiles, in a real browser on the real program. */
import assert from 'node:assert/strict'
import { DEMO_SYSADMIN, DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'

const seen = consoleTests()

interface Queue {
  readonly id: { readonly id: string }
  readonly name: string
  readonly submitStrategy: { readonly type: string; readonly batchSize: number }
  readonly processingStrategy: { readonly type: string; readonly retries: number; readonly failurePercentage: number }
  readonly additionalInfo: unknown
}

seen(
  'a tenant adds a queue, sees what it costs, and uses it for assets of a kind',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const queueOf = async (name: string) => rest.expect<Queue>('GET', `/api/queues/name/${name}`)
    await logIn(browser, running, DEMO_TENANT, '/login?next=%2Fqueues')
    await browser.sees(/Main\s+the system\s+all at once/)
    await (await browser.named('Add a queue')).click()
    await (await browser.find('input[name=name]')).type('Slow')
    await (await browser.named('Add the queue')).click()
    await browser.sees(/Nothing is lost/)
    assert.equal((await queueOf('Slow')).processingStrategy.retries, 10)
    await browser.choose('select[name=submit]', 'so many at a time')
    await browser.sees('one slow message holds up all others')
    await browser.run("document.querySelector('input[name=batchSize]').value = '7'")
    await browser.choose('select[name=order]', 'yes')
    await browser.choose('select[name=process]', 'skip what failed')
    await browser.sees('what failed is lost but for a count')
    assert.doesNotMatch(await browser.sees('Failures'), /First pause/)
    await (await browser.named('Save')).click()
    await browser.sees('Saved: it counts at once')
    const saved = await queueOf('Slow')
    assert.deepEqual(
      [saved.submitStrategy, saved.processingStrategy.type, saved.additionalInfo],
      [{ type: 'BATCH', batchSize: 7 }, 'SKIP_ALL_FAILURES', { strictOrder: true }],
    )
    await browser.open(`${running.url}/assetProfiles`)
    await (await browser.named('Add an asset profile')).click()
    await (await browser.find('input[name=name]')).type('Halls')
    await (await browser.named('Add the profile')).click()
    await browser.choose('select[name=queue]', 'Slow')
    await (await browser.named('Save')).click()
    await browser.sees('Saved: messages go this way')
    await rest.expect('POST', '/api/deviceProfile', {
      ...{ name: 'Halls', type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'DISABLED' },
      defaultQueueName: 'Slow',
    })
    await browser.open(`${running.url}/queues/${saved.id.id}`)
    await (await browser.named('Delete the queue')).click()
    await (await browser.named('Delete "Slow" for ever')).click()
    // Refused, and it says by whom it is used.
    await browser.sees('Halls')
    await (await browser.named('No, keep it')).click()
    await browser.open(`${running.url}/assetProfiles`)
    await (await browser.named('Halls')).click()
    await (await browser.named('Make it the default')).click()
    await browser.run("[...document.querySelectorAll('dialog button')].at(-1).click()")
    await browser.sees('Assets made without a profile get this one')
    assert.equal(await (await browser.focused()).text(), 'Halls')
  },
  { complaints: [/api\/queues.*400/] },
)

seen('a tenant reads queues of the system, which the system administrator changes', async (browser, running) => {
  const system = new RestClient(running, await login(running, DEMO_SYSADMIN))
  const { id } = await system.expect<Queue>('GET', '/api/queues/name/HighPriority')
  await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fqueues%2F${id.id}`)
  await browser.sees('the system administrator changes it')
  const open = await browser.run("return document.querySelectorAll('main form :enabled').length")
  assert.equal(open, 0)
  await (await browser.named('Log out')).click()
  await browser.find('input[name=username]')
  await logIn(browser, running, DEMO_SYSADMIN, `/login?next=%2Fqueues%2F${id.id}`)
  await browser.find('input[name=retries]')
  await browser.run("document.querySelector('input[name=retries]').value = '4'")
  await (await browser.named('Save')).click()
  await browser.sees('Saved: it counts at once')
  assert.equal((await system.expect<Queue>('GET', `/api/queues/${id.id}`)).processingStrategy.retries, 4)
})

seen(
  'a queue is saved with what it has in parts, and whatever stands in numbers that do not count',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const { id } = await rest.expect<Queue>('POST', '/api/queues?serviceType=TB_RULE_ENGINE', {
      ...{ name: 'Parts', topic: 'parts', pollInterval: 25, partitions: 1, packProcessingTimeout: 2000 },
      submitStrategy: { type: 'BATCH', batchSize: 10 },
      processingStrategy: { type: 'RETRY_FAILED', retries: 3, failurePercentage: 0.5 },
    })
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fqueues%2F${id.id}`)
    await browser.find('input[name=retries]')
    await browser.run("document.querySelector('input[name=batchSize]').value = ''")
    await browser.run("document.querySelector('input[name=retries]').value = '-1'")
    await browser.choose('select[name=submit]', 'one at a time per device')
    await browser.choose('select[name=process]', 'skip what failed')
    await (await browser.named('Save')).click()
    await browser.sees('Saved: it counts at once')
    const { submitStrategy, processingStrategy } = await rest.expect<Queue>('GET', `/api/queues/${id.id}`)
    assert.deepEqual(submitStrategy, { type: 'SEQUENTIAL_BY_ORIGINATOR', batchSize: 10 })
    assert.deepEqual(
      [processingStrategy.type, processingStrategy.retries, processingStrategy.failurePercentage],
      ['SKIP_ALL_FAILURES', 3, 0.5],
    )
    await browser.choose('select[name=process]', 'try all again')
    await browser.run("document.querySelector('input[name=retries]').value = '4'")
    await (await browser.named('Save')).click()
    await browser.sees('Saved: it counts at once')
    const { processingStrategy: again } = await rest.expect<Queue>('GET', `/api/queues/${id.id}`)
    assert.deepEqual([again.type, again.retries, again.failurePercentage], ['RETRY_ALL', 4, 0.5])
  },
)

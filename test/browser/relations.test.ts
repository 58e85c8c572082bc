/** Relations of an entity, in a real browser on the real program: in pages, where there are many. */
import { DEMO_TENANT, RestClient, login } from '../support/clients.ts'
import { consoleTests, logIn } from '../support/console.ts'

const seen = consoleTests()

interface Made {
  readonly id: { readonly entityType: string; readonly id: string }
}

seen(
  'what belongs to an asset has pages, and one that is taken apart leaves its page shown',
  async (browser, running) => {
    const rest = new RestClient(running, await login(running))
    const hall = await rest.expect<Made>('POST', '/api/asset', { name: 'Hall' })
    for (let index = 0; index < 25; index++) {
      const { id } = await rest.expect<Made>('POST', '/api/asset', { name: `Shelf ${index}` })
      await rest.expect('POST', '/api/relation', { from: hall.id, to: id, type: 'Contains', typeGroup: 'COMMON' })
    }
    await logIn(browser, running, DEMO_TENANT, `/login?next=%2Fassets%2F${hall.id.id}`)
    await browser.sees('1 to 20 of 25')
    await (await browser.named('Next')).click()
    await browser.sees('21 to 25 of 25')
    await (await browser.find('[aria-label^="Take apart"]')).click()
    await browser.find('dialog .danger')
    await browser.run("document.querySelector('dialog .danger').click()")
    await browser.sees('21 to 24 of 24')
  },
)

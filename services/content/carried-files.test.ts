/** Files that go beside what shows them and come with it, on both databases. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import type { JsonValue } from '../../model/json.ts'
import { onBothDatabases } from '../both-databases.testkit.ts'
import { linkOf } from '../entities/tb-resource.ts'
import type { TestPlatform } from '../testkit.ts'
import { CarriedAnswer, linkedTo, type CarriedFile } from './carried-files.ts'

const picture = (background: string) =>
  sharp({ create: { width: 4, height: 4, channels: 3, background } })
    .png()
    .toBuffer()

await onBothDatabases('carried files: ', testAll)

function testAll(open: () => Promise<TestPlatform>): void {
  let platform: TestPlatform
  before(async () => {
    platform = await open()
  })
  after(() => platform.close())

  const content = () => platform.services.content
  const carried = async (value: JsonValue, by = platform.tenant) => {
    const answer = new CarriedAnswer()
    const files = await content().carriedFiles.of(by, value, answer)
    answer.release()
    return files.map(({ link }) => link).toSorted()
  }
  const keep = (...files: readonly CarriedFile[]) => content().carriedFiles.keep(platform.tenant, files)
  const image = async (
    fileName: string,
    background: string,
    link = '/api/images/tenant/of.another',
  ): Promise<CarriedFile> => ({
    ...{ link, title: fileName, type: 'IMAGE', fileName, bytes: await picture(background) },
  })
  const module = (fileName: string, text: string): CarriedFile => ({
    ...{ link: `/api/resource/js_module/tenant/${fileName}`, title: fileName, type: 'JS_MODULE', fileName },
    bytes: Buffer.from(text),
  })

  test('what links name goes along once, whatever signs the names of files have; another tenant’s does not', async () => {
    const { images, resources } = content()
    const links: string[] = []
    for (const fileName of ['R&D.png', "John's.png", 'a;b.png', 'plain.png']) {
      const made = await images.create(platform.tenant, { fileName, bytes: await picture('#010203') })
      links.push(linkOf(made))
    }
    const draft = { title: 'Script', resourceType: 'JS_MODULE', fileName: 'my script.js' }
    links.push(linkOf(await resources.save(platform.tenant, draft, Buffer.from('1'))))
    const [first = '', , , plain = '', script = ''] = links
    const shown = {
      image: `tb-image;${first}`,
      configuration: {
        list: links.slice(0, 4).map((link) => `tb-image;${link}`),
        html: `<img src='tb-image;${plain}'><img src="tb-image;${plain}">`,
        script: `tb-resource;${script}`,
        none: 'tb-image;/api/images/tenant/none.png',
      },
    }
    assert.deepEqual(await carried(shown), links.toSorted())
    const stranger = { ...platform.tenant, tenantId: '00000000-0000-4000-8000-00000000000f' }
    assert.deepEqual(await carried(shown, stranger), [])
  })

  test('one whose key others have gets another, by which all that named it name it', async () => {
    await content().images.create(platform.tenant, { fileName: 'Q&A.png', bytes: await picture('#111111') })
    const link = '/api/images/tenant/Q&A.png'
    const links = await keep(await image('Q&A.png', '#222222', link), module('clock.js', 'clock'))
    const to = links.get(link) ?? ''
    assert.equal(to, '/api/images/tenant/Q&A_(1).png')
    assert.deepEqual(
      linkedTo(
        [`tb-image;${link}`, '<a href="tb-resource;/api/resource/js_module/tenant/clock.js">', 'Q&A.png'],
        links,
      ),
      [`tb-image;${to}`, '<a href="tb-resource;/api/resource/js_module/tenant/clock.js">', 'Q&A.png'],
    )
    assert.deepEqual(await carried([`tb-image;${to}`]), [to])
  })

  test('a script whose name would end its link is kept under another', async () => {
    const file = module('a/b c#d.js', 'signs')
    const link = (await keep(file)).get(file.link) ?? ''
    assert.equal(link, '/api/resource/js_module/tenant/a_b_c_d.js')
    assert.deepEqual(await carried(`x tb-resource;${link} y`), [link])
  })

  test('saves at the same time keep each their files', async () => {
    const files = [await image('same.png', '#333333'), await image('same.png', '#444444'), module('same.js', 'same')]
    const kept = await Promise.all([...files, ...files].map((file) => keep(file)))
    for (const [index, links] of kept.entries()) {
      const [link = ''] = links.values()
      const answer = new CarriedAnswer()
      const [there] = await content().carriedFiles.of(platform.tenant, `tb-image;${link}`, answer)
      answer.release()
      assert.equal(there?.['data'], files[index % 3]?.bytes.toString('base64'), link)
    }
  })

  test('files hold their room until their answer has left, also those of one that is too large', async () => {
    const { carriedFiles, room } = content()
    const links = await keep(module('a.js', 'a'.repeat(1000)), module('b.js', 'b'.repeat(500)))
    const texts = [...links.values()].map((link) => `tb-resource;${link}`)
    const answer = new CarriedAnswer()
    await carriedFiles.of(platform.tenant, texts, answer)
    assert.equal(room.bytes, 1500)
    answer.release()
    assert.equal(room.bytes, 0)
    await keep(module('large.js', 'c'.repeat((32 << 20) + 1)))
    const large = carriedFiles.of(platform.tenant, 'tb-resource;/api/resource/js_module/tenant/large.js', answer)
    await assert.rejects(large, { code: 'resources.INLINED_TOO_LARGE', status: 400 })
    answer.release()
    assert.equal(room.bytes, 0)
  })

  test('what the system has is not kept once more', async () => {
    const file = await image('of-all.png', '#555555')
    const system = await content().carriedFiles.keep(platform.systemAdministrator, [file])
    assert.deepEqual(await keep(file), system)
    assert.match([...system.values()].join(), /^\/api\/images\/system\//)
  })
}

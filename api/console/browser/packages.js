/** OTA packages: firmware and software for devices of a profile, kept here or loaded from an address. */
import { dangerous } from './dialog.js'
import { choice, field, form, make, timeText } from './dom.js'
import { profilesOffered } from './offered.js'
import { pagedList, searchField } from './paged.js'
import { call } from './session.js'

/** @typedef {Record<string, any>} Json */

const KINDS = /** @type {readonly (readonly [string, string])[]} */ ([
  ['FIRMWARE', 'firmware'],
  ['SOFTWARE', 'software'],
])

/** @param {import('./pages.js').Place} place */
export async function packagesPage({ main, query }) {
  const profiles = await profilesOffered()
  const names = new Map(profiles)
  const search = searchField(query, () => void list.turnTo(1))
  const list = pagedList({
    caption: 'OTA packages',
    heads: ['Name', 'Version', 'Kind', 'For', 'Holds', 'Made', 'Do'],
    cells: (/** @type {Json} */ each) => {
      const profileId = each['deviceProfileId']?.id
      const profile =
        profileId === undefined ? '' : make('a', { href: `/profiles/${profileId}` }, names.get(profileId) ?? profileId)
      return [
        each['title'],
        each['version'],
        each['type'].toLowerCase(),
        profile,
        held(each),
        timeText(each['createdTime']),
        removal(each),
      ]
    },
    path: '/api/otaPackages',
    asked: () => ({ sortProperty: 'createdTime', sortOrder: 'DESC', ...search.searched('textSearch') }),
    kept: () => search.searched('search'),
    query,
    none: 'There are no packages: "Add a package" uploads a file, or names its address.',
  })
  document.body.classList.add('roomy')
  main.replaceChildren(
    make('h1', {}, 'OTA packages'),
    make('p', {}, 'Devices load the package that their profile, or their own settings, name.'),
    search.row,
    list.element,
    addition(profiles, list.show),
  )
  await list.show()

  /** @param {Json} each @returns {Node} */
  function removal({ id, title, version }) {
    const act = async () => {
      await call('DELETE', `/api/otaPackage/${id.id}`)
      await list.show()
    }
    return dangerous('Delete', `Delete "${title}" ${version}`, act, { of: `${title} ${version}`, done: list.focus })
  }
}

/** @param {Json} each */
function held({ hasData, fileName, dataSize, checksum, checksumAlgorithm, url }) {
  if (hasData)
    return make(
      'span',
      { title: `${checksumAlgorithm} ${checksum}` },
      `${fileName ?? 'a file'}, ${Number(dataSize).toLocaleString()} bytes`,
    )
  return url ? `at ${url}` : 'nothing yet: delete it, and add it with its file'
}

/** @param {import('./offered.js').Offered} profiles @param {() => Promise<void>} onAdded */
function addition(profiles, onAdded) {
  const title = field('Name', { name: 'title', required: true, autocomplete: 'off' })
  const version = field('Version', { name: 'version', required: true, autocomplete: 'off' })
  const kind = choice('Kind', 'kind', KINDS, 'FIRMWARE')
  const profile = choice('For devices of', 'profile', profiles, profiles[0]?.[0])
  const file = field('File', { name: 'file', type: 'file' })
  const url = field('Or its address', { name: 'url', type: 'url', autocomplete: 'off' })
  const rows = [title, version, kind, profile, file, url].map(({ row }) => row)
  const adding = form('Add the package', rows, async () => {
    const [chosen] = file.input.files ?? []
    const address = url.input.value.trim()
    if ((chosen === undefined) === (address === '')) throw new Error('Choose a file, or give an address: one of both.')
    const made = await call('POST', '/api/otaPackage', {
      title: title.input.value.trim(),
      version: version.input.value.trim(),
      type: kind.input.value,
      deviceProfileId: { entityType: 'DEVICE_PROFILE', id: profile.input.value },
      ...(address === '' ? {} : { url: address, usesUrl: true }),
    })
    if (chosen !== undefined) await upload(made.id.id, chosen)
    await onAdded()
    for (const { input } of [title, version, file, url]) input.value = ''
    return `"${made.title}" is there. Its profile names it from when you choose it there.`
  })
  return make('details', {}, make('summary', {}, 'Add a package'), adding)
}

/** @param {string} id @param {File} file */
async function upload(id, file) {
  const body = new FormData()
  body.set('file', file)
  try {
    await call('POST', `/api/otaPackage/${id}?checksumAlgorithm=SHA256`, body)
  } catch (error) {
    // Else it would stand there without its bytes, and its name again at the next try.
    await call('DELETE', `/api/otaPackage/${id}`)
    throw error
  }
}

/** Files that appear in a folder: each record is a frame; files that were read are moved away. */
import { defineIntegration } from '../define-integration.ts'
import { checkFolder } from '../operator-rules.ts'
import { fileConfiguration } from './file-configuration.ts'

export const file = defineIntegration({
  type: 'FILE',
  label: 'Files in a folder',
  configuration: fileConfiguration,
  secrets: {},
  placeOf: ({ folder }) => folder,
  example: { folder: 'meters', format: 'CSV' },
  check: (_configuration, rules) => checkFolder(rules),
  open: async (parts) => (await import('./file-source.ts')).openFileSource(parts),
})

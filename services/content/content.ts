/** What people look at and devices load: dashboards, widgets, files. */
import { CarriedFiles } from './carried-files.ts'
import { Dashboards, type DashboardsParts } from './dashboards.ts'
import { FileRoom } from './file-room.ts'
import { Images } from './images.ts'
import { InlineImages } from './inline-images.ts'
import { TypesOfObjects } from './object-types.ts'
import { OtaDownloads } from './ota-downloads.ts'
import { OtaPackages } from './ota-packages.ts'
import { Resources } from './resources.ts'
import { StoredBytes } from './stored-bytes.ts'
import { Widgets, type WidgetsParts } from './widgets.ts'

export interface ContentServices {
  readonly dashboards: Dashboards
  readonly widgets: Widgets
  readonly otaPackages: OtaPackages
  readonly otaDownloads: OtaDownloads
  readonly typesOfObjects: TypesOfObjects
  readonly resources: Resources
  readonly images: Images
  readonly inlineImages: InlineImages
  readonly carriedFiles: CarriedFiles
  /** What files in memory hold, until their answers have left. */
  readonly room: Pick<FileRoom, 'bytes'>
}

export type ContentParts = DashboardsParts & WidgetsParts

export function createContent(parts: ContentParts): ContentServices {
  const bytes = new StoredBytes(parts.entities, parts.clock, parts.random)
  const room = new FileRoom()
  const resources = new Resources({ declared: parts.declared, bytes, room })
  const images = new Images(resources, parts.random)
  return {
    resources,
    room,
    images,
    inlineImages: new InlineImages(images, resources),
    carriedFiles: new CarriedFiles(images, resources, parts.random),
    dashboards: new Dashboards(parts),
    widgets: new Widgets(parts),
    otaDownloads: new OtaDownloads({ declared: parts.declared, bytes, room }),
    typesOfObjects: new TypesOfObjects({ declared: parts.declared, bytes }),
    otaPackages: new OtaPackages({ declared: parts.declared, bytes, room, clock: parts.clock }),
  }
}

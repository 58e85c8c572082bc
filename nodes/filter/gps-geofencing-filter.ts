/** Tells whether a message's position is inside a perimeter (`rule-nodes.md` 12). */
import { defineNode } from '../define-node.ts'
import { PERIMETER_DEFAULTS, insideCheck, perimeterConfiguration } from '../geo/perimeter.ts'

export const gpsGeofencingFilter = defineNode({
  type: 'org.thingsboard.rule.engine.geo.TbGpsGeofencingFilterNode',
  name: 'gps geofencing filter',
  category: 'FILTER',
  relations: ['True', 'False'],
  description:
    'True where the position is inside the polygon or the circle; on the border is outside. Polygons are flat, circles follow the globe.',
  configuration: perimeterConfiguration,
  defaults: PERIMETER_DEFAULTS,
  examples: [
    {
      title: 'inside a polygon from the metadata',
      configuration: PERIMETER_DEFAULTS,
      given: {
        data: '{"latitude":15,"longitude":15.5}',
        metadata: { ss_perimeter: '[[10,10],[10,20],[20,20],[20,10]]' },
      },
      expect: { relations: ['True'] },
    },
    {
      title: 'a circle of one kilometre',
      configuration: {
        ...PERIMETER_DEFAULTS,
        perimeterType: 'CIRCLE',
        fetchPerimeterInfoFromMessageMetadata: false,
        centerLatitude: 50,
        centerLongitude: 30,
        range: 1,
        rangeUnit: 'KILOMETER',
      },
      given: { data: '{"latitude":50.0095,"longitude":30}' },
      expect: { relations: ['False'] },
    },
    {
      title: 'a message without a position',
      configuration: PERIMETER_DEFAULTS,
      given: { data: '{"latitude":15}', metadata: { ss_perimeter: '[[10,10],[20,20]]' } },
      expect: { relations: ['Failure'] },
    },
  ],
  create: (configuration) => {
    const isInside = insideCheck(configuration)
    return { handle: (message) => (isInside(message) ? 'True' : 'False') }
  },
})

/** CoAP as one of the device protocols. */
import { defineTransport } from '../define-transport.ts'
import { startCoapTransport } from './server.ts'
import { COAP_SETTINGS } from './settings.ts'

export const coap = defineTransport({
  name: 'coap',
  label: 'CoAP',
  settings: COAP_SETTINGS,
  figures: {
    observers: 'observers',
    blockTransfers: 'block_transfers',
    received: 'received_uploads_total',
    acknowledged: 'acknowledged_uploads_total',
    refused: 'refused_uploads_total',
    undecodable: 'undecodable_requests_total',
    unauthenticated: 'unauthenticated_requests_total',
    malformed: 'malformed_datagrams_total',
    duplicates: 'duplicate_requests_total',
    notified: 'notifications_total',
    retransmitted: 'retransmissions_total',
    lost: 'lost_messages_total',
  },
  listeners: ({ coapEnabled, coapBindAddress, coapBindPort }) =>
    coapEnabled
      ? [
          {
            name: 'coap',
            label: 'CoAP',
            scheme: 'coap',
            over: 'udp',
            address: coapBindAddress,
            addressName: COAP_SETTINGS.coapBindAddress.name,
            port: coapBindPort,
            portName: COAP_SETTINGS.coapBindPort.name,
          },
        ]
      : [],
  open: async ({ gateway, settings, payload, clock, random, log }) => {
    const transport = await startCoapTransport({
      gateway,
      bindAddress: settings.coapBindAddress,
      port: settings.coapBindPort,
      dtlsProxySocket: settings.coapDtlsProxySocket,
      limits: {
        maxPayloadBytes: settings.coapMaxPayloadBytes,
        maxExchanges: settings.coapMaxExchanges,
        maxObservers: settings.coapMaxObservers,
        maxObserversPerTenant: settings.coapMaxObserversPerTenant,
      },
      payload,
      clock,
      random,
      log,
    })
    return {
      ports: { coap: transport.port },
      figures: () => transport.figures(),
      close: () => transport.close(),
    }
  },
})

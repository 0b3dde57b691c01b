import Logging
import TocsinAuth
import TocsinCore
import TocsinPush

/// The webhooks of a server, made from settings; what they report goes to the log.
enum Webhooks {
    static func made(from settings: Settings) throws(StartError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for webhook in settings.webhooks {
            do throws(KeyError) {
                webhooks.append(
                    Webhook(
                        name: webhook.name,
                        url: webhook.url,
                        signer: try HMACKey(webhookSecret: webhook.secret.contents),
                        types: webhook.types,
                        includesTokens: webhook.includesTokens
                    )
                )
            } catch {
                throw StartError("The secret of webhook \(webhook.name): \(error.description)")
            }
        }
        return webhooks
    }

    static func write(_ report: WebhookReport, to logger: Logger) {
        switch report {
        case .retrying(let webhook, let type, let id, let reason, let attempts):
            logger.warning(
                "webhook event not delivered; it is tried again",
                metadata: [
                    "webhook": "\(webhook)", "type": "\(type.rawValue)", "event": "\(id)", "reason": "\(reason)",
                    "attempts": "\(attempts)",
                ]
            )
        case .dead(let webhook, let type, let id, let reason):
            logger.error(
                "webhook event given up; tocsin webhooks retry sends it again",
                metadata: [
                    "webhook": "\(webhook)", "type": "\(type.rawValue)", "event": "\(id)", "reason": "\(reason)",
                ]
            )
        case .storeFailed(let error):
            logger.error("webhooks wait for the database", metadata: ["reason": "\(error)"])
        }
    }
}

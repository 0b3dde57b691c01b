package import TocsinCore

/// Names made from other names, so that a repeated page uses the same ones.
package enum DeliveryIdentity {
    /// The id of a message's delivery to a device.
    package static func id(of message: MessageID, to device: DeviceID) -> DeliveryID {
        DeliveryID(DerivedUUID.text(of: message.text, device.text))
    }
}

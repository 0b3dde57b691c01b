import JSON

/// The rules for a push's body, and that its push type fits it ("Generating
/// a remote notification").
enum APNsPayloadRules {
    static func payload(
        _ request: WireRequest,
        _ type: APNsPushType,
        priority: String
    ) throws(APNsRefusal) -> JSONValue {
        guard request.bodyBytes <= type.maximumPayloadBytes else {
            let sizes = "\(request.bodyBytes) bytes, allowed are \(type.maximumPayloadBytes)"
            throw APNsRefusal(.payloadTooLarge, "the payload has \(sizes)")
        }
        guard !request.body.isEmpty else { throw APNsRefusal(.payloadEmpty, "the request has no body") }
        let payload: JSONValue
        do throws(JSONError) {
            payload = try JSONParser.parse(request.body)
        } catch {
            throw APNsRefusal(.payloadEmpty, "the payload is not JSON: \(error)")
        }
        guard let aps = payload["aps"]?.objectValue else {
            throw APNsRefusal(.payloadEmpty, "the payload has no object under aps")
        }
        try check(aps, type, priority)
        return payload
    }

    private static func check(_ aps: JSONObject, _ type: APNsPushType, _ priority: String) throws(APNsRefusal) {
        switch type {
        case .alert:
            guard aps["alert"] != nil || aps["badge"] != nil || aps["sound"] != nil else {
                throw APNsRefusal(.invalidPushType, "push type alert needs alert, badge or sound in aps")
            }
        case .background:
            guard priority == "5" else {
                throw APNsRefusal(.badPriority, "push type background needs apns-priority 5, not \(priority)")
            }
            guard aps["content-available"]?.intValue == 1, aps.count == 1 else {
                throw APNsRefusal(.invalidPushType, "push type background needs aps to hold content-available: 1 alone")
            }
        case .liveactivity:
            guard aps["event"] != nil, aps["content-state"] != nil || aps["event"]?.stringValue == "end" else {
                throw APNsRefusal(.invalidPushType, "push type liveactivity needs event and content-state in aps")
            }
        case .voip, .complication, .fileprovider, .location, .pushtotalk, .widgets, .controls, .mdm:
            break
        }
    }
}

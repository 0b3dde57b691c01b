import GraphQL
import JSON
import TocsinCore

/// Resolvers of what a person wants of their own pushes.
enum UserSettingsResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.mySettings") { invocation throws(ServiceError) in
            let context = invocation.context
            return .object(.settings(try await context.services.userSettings.settings(caller: context.caller)))
        }
        map.service("Mutation.setMySettings") { invocation throws(ServiceError) in
            let (context, input) = (invocation.context, invocation.arguments["input"]?.objectValue ?? [:])
            var given: [WeeklyHours]?
            if let list = input["quietHours"]?.arrayValue { given = try quietHours(list) }
            let hours = given
            let settings = try await context.services.userSettings.change(caller: context.caller) { settings in
                if let zone = input["timeZone"]?.stringValue { settings.timeZone = zone }
                if let hours { settings.quietHours = hours }
                if let priority = input["quietBreakThrough"]?.intValue { settings.quietBreakThrough = priority }
                if let mode = input["quietMode"]?.stringValue.flatMap(UserSettings.QuietMode.init(rawValue:)) {
                    settings.quietMode = mode
                }
                if let count = input["maxSingles"]?.intValue { settings.maxSingles = Int(clamping: count) }
            }
            return .object(.settings(settings))
        }
        map.service("Mutation.doNotDisturb") { invocation throws(ServiceError) in
            let (context, arguments) = (invocation.context, invocation.arguments)
            var until: Timestamp?
            if let text = arguments["until"]?.stringValue { until = try moment(text, "until") }
            let settings = try await context.services.userSettings.doNotDisturb(
                minutes: arguments["minutes"]?.intValue.map { Int(clamping: $0) },
                until: until,
                caller: context.caller
            )
            return .object(.settings(settings))
        }
        registerFields(in: &map)
    }

    private static func registerFields(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.settings("timeZone") { $1.string($0.timeZone) }
        map.settings("quietBreakThrough") { $1.int($0.quietBreakThrough) }
        map.settings("quietMode") { $1.string($0.quietMode.rawValue) }
        map.settings("doNotDisturbUntil") { $1.string($0.doNotDisturbUntil?.iso8601) }
        map.settings("maxSingles") { $1.int(Int64($0.maxSingles)) }
        map.value("MySettings.quietHours") { object, _ in
            guard case .settings(let settings) = object else { return .null }
            return .objects(settings.quietHours.map { .hours($0) })
        }
        map.value("WeeklyHours.days") { object, _ in
            guard case .hours(let hours) = object else { return .null }
            return .list(hours.days.sorted().map { .leaf(.string(WeeklyHours.dayNames[$0 % 7])) })
        }
        map.leaf("WeeklyHours.from") { object, out in
            guard case .hours(let hours) = object else { return out.null() }
            out.string(WallClock.text(hours.from))
        }
        map.leaf("WeeklyHours.to") { object, out in
            guard case .hours(let hours) = object else { return out.null() }
            out.string(WallClock.text(hours.to))
        }
    }

    private static func quietHours(_ list: [JSONValue]) throws(ServiceError) -> [WeeklyHours] {
        var hours: [WeeklyHours] = []
        for item in list {
            let days = (item["days"]?.arrayValue ?? []).compactMap { day in
                WeeklyHours.dayNames.firstIndex(of: day.stringValue ?? "")
            }
            let from = try WallClock.minutes(item["from"]?.stringValue ?? "", "quietHours.from")
            let to = try WallClock.minutes(item["to"]?.stringValue ?? "", "quietHours.to")
            hours.append(WeeklyHours(days: Set(days), from: from, to: to))
        }
        return hours
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func settings(
        _ field: String,
        _ write: @escaping @Sendable (UserSettings, inout LeafWriter) -> Void
    ) {
        leaf("MySettings.\(field)") { object, out in
            guard case .settings(let settings) = object else { return out.null() }
            write(settings, &out)
        }
    }
}

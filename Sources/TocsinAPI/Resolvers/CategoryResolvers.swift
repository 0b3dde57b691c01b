import GraphQL
import TocsinCore

/// Resolvers of the categories that apps register.
enum CategoryResolvers {
    static func register(in map: inout ResolverMap<APIObject, RequestContext>) {
        map.service("Query.notificationCategories") { invocation throws(ServiceError) in
            let categories = invocation.context.services.categories.prefix(try invocation.pageSize())
            return .objects(categories.map { .category($0) })
        }
        map.leaf("NotificationCategory.id") { object, out in
            guard case .category(let category) = object else { return out.null() }
            out.string(category.id)
        }
        map.leaf("NotificationCategory.hiddenPreview") { object, out in
            guard case .category(let category) = object else { return out.null() }
            out.string(category.hiddenPreview)
        }
        map.value("NotificationCategory.actions") { object, invocation in
            guard case .category(let category) = object else { return .null }
            let limit = max(0, invocation.arguments["limit"]?.intValue ?? .max)
            return .objects(category.actions.prefix(Int(clamping: limit)).map { .action($0) })
        }
        map.action("id") { $1.string($0.id) }
        map.action("title") { $1.string($0.title) }
        for option in NotificationAction.Option.allCases {
            map.action(option.rawValue) { $1.bool($0.options.contains(option)) }
        }
        map.value("NotificationAction.textInput") { object, _ in
            guard case .action(let action) = object, let input = action.textInput else { return .null }
            return .object(.textInput(input))
        }
        map.textInput("buttonTitle") { $1.string($0.buttonTitle) }
        map.textInput("placeholder") { $1.string($0.placeholder) }
    }
}

extension ResolverMap where Object == APIObject, Context == RequestContext {
    fileprivate mutating func action(
        _ field: String,
        _ write: @escaping @Sendable (NotificationAction, inout LeafWriter) -> Void
    ) {
        leaf("NotificationAction.\(field)") { object, out in
            guard case .action(let action) = object else { return out.null() }
            write(action, &out)
        }
    }

    fileprivate mutating func textInput(
        _ field: String,
        _ write: @escaping @Sendable (NotificationAction.TextInput, inout LeafWriter) -> Void
    ) {
        leaf("NotificationTextInput.\(field)") { object, out in
            guard case .textInput(let input) = object else { return out.null() }
            write(input, &out)
        }
    }
}

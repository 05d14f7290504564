#include "host.h"

#include <node_api.h>

static napi_value call(napi_env env, int (*function)(void)) {
    napi_value result;
    napi_create_int32(env, function(), &result);
    return result;
}

static napi_value right(napi_env env, napi_callback_info info) {
    (void)info;
    return call(env, host_right);
}

static napi_value fault(napi_env env, napi_callback_info info) {
    (void)info;
    return call(env, host_fault);
}

NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, "right", NAPI_AUTO_LENGTH, right, NULL, &function);
    napi_set_named_property(env, exports, "right", function);
    napi_create_function(env, "fault", NAPI_AUTO_LENGTH, fault, NULL, &function);
    napi_set_named_property(env, exports, "fault", function);
    return exports;
}

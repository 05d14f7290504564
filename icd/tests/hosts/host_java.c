#include "host.h"

#include <jni.h>

JNIEXPORT jint JNICALL Java_Host_right(JNIEnv *env, jclass class) {
    (void)env, (void)class;
    return host_right();
}

JNIEXPORT jint JNICALL Java_Host_fault(JNIEnv *env, jclass class) {
    (void)env, (void)class;
    return host_fault();
}

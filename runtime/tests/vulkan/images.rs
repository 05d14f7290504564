//! Images and samplers.

use super::*;

/// A 4 by 2 image of four components of 32 bits, in a buffer's memory.
fn image(context: &Arc<Context>, data_type: u32, texels: &[u32]) -> (Arc<Image>, Arc<Buffer>) {
    let memory = buffer(context, texels);
    let desc = ImageDesc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        width: 4,
        height: 2,
        ..ImageDesc::default()
    };
    let source = ImageSource::Buffer(Arc::clone(&memory));
    let format = (CL_RGBA, data_type);
    let image = Image::new(context, 0, format, &desc, HostPtr::null(), source, vec![]);
    (image.unwrap(), memory)
}

const IMAGES: &str = include_str!("../../../compiler/tests/spirv/accept/vulkan_images.spvasm");

#[test]
fn images_are_sampled_and_fetched() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, IMAGES, "1.1");
    let kernel = program.kernel("sample").unwrap();
    let texel = |i: u32| {
        let (x, y) = ((i % 4) as f32, (i / 4) as f32);
        [x, y, 10.0 * x + y, 1.0]
    };
    let texels: Vec<u32> = (0..8).flat_map(texel).map(f32::to_bits).collect();
    let (image, _memory) = image(&context, CL_FLOAT, &texels);
    let state = SamplerState {
        addressing_mode: CL_ADDRESS_CLAMP_TO_EDGE,
        filter_mode: CL_FILTER_LINEAR,
        ..SamplerState::default()
    };
    let sampler = Sampler::new(&context, state, vec![]).unwrap();
    let (out, format) = (buffer(&context, &[0; 16]), buffer(&context, &[0; 3]));
    kernel.set_arg_image(0, &image).unwrap();
    kernel.set_arg_sampler(1, &sampler).unwrap();
    kernel.set_arg_buffer(2, Some(&out)).unwrap();
    kernel.set_arg_buffer(3, Some(&format)).unwrap();
    launch(&queue, &kernel, 1, 1);
    let expected = [[1.5, 0.5, 15.5, 1.0], texel(1), texel(3), texel(5)];
    assert_eq!(floats(&queue, &out), expected.concat());
    assert_eq!(words(&queue, &format), [CL_RGBA, CL_FLOAT, 4]);
}

#[test]
fn images_are_stored_to() {
    let context = context();
    let queue = queue(&context);
    let program = built(&context, IMAGES, "1.1");
    let kernel = program.kernel("store").unwrap();
    assert_eq!(kernel.info().args[0].access, AccessQualifier::WriteOnly);
    assert_eq!(kernel.info().args[1].access, AccessQualifier::ReadWrite);
    let numbers: Vec<u32> = (0..32).collect();
    let (written, of_written) = image(&context, CL_FLOAT, &[0; 32]);
    let (both, of_both) = image(&context, CL_UNSIGNED_INT32, &numbers);
    kernel.set_arg_image(0, &written).unwrap();
    kernel.set_arg_image(1, &both).unwrap();
    let size = Some(&[4, 2][..]);
    queue
        .enqueue_nd_range(&kernel, 2, None, size, Some(&[1, 1]), &[])
        .unwrap();
    let expected = (0..8).flat_map(|i| {
        let (x, y) = ((i % 4) as f32, (i / 4) as f32);
        [x, y, x, y]
    });
    assert!(floats(&queue, &of_written).into_iter().eq(expected));
    assert!(words(&queue, &of_both).into_iter().eq(1..33));
}

/// A sampler without normalized coordinates, of an image of three dimensions.
#[test]
fn coordinates_are_those_of_the_sampler() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_sampler_mask.spvasm");
    let program = built(&context, text, "1.1");
    let kernel = program.kernel("texel").unwrap();
    let texels: Vec<f32> = (0..3 * 2 * 2 * 4).map(|i| i as f32).collect();
    let desc = ImageDesc {
        image_type: CL_MEM_OBJECT_IMAGE3D,
        width: 3,
        height: 2,
        depth: 2,
        ..ImageDesc::default()
    };
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: copied during the call.
    let host = unsafe { HostPtr::new(texels.as_ptr().cast_mut().cast()) };
    let (format, source) = ((CL_RGBA, CL_FLOAT), ImageSource::New);
    let image = Image::new(&context, flags, format, &desc, host, source, vec![]).unwrap();
    kernel.set_arg_image(0, &image).unwrap();
    for filter_mode in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
        let state = SamplerState {
            normalized: false,
            addressing_mode: CL_ADDRESS_CLAMP_TO_EDGE,
            filter_mode,
            ..SamplerState::default()
        };
        let sampler = Sampler::new(&context, state, vec![]).unwrap();
        kernel.set_arg_sampler(1, &sampler).unwrap();
        let at = [2u32, 1, 1, 0].map(u32::to_ne_bytes).concat();
        kernel.set_arg_value(3, &at).unwrap();
        let out = buffer(&context, &[0; 4]);
        kernel.set_arg_buffer(2, Some(&out)).unwrap();
        launch(&queue, &kernel, 1, 1);
        let texel = |x: usize, y: usize, z: usize| &texels[4 * ((z * 2 + y) * 3 + x)..][..4];
        // A texel's middle is half a texel from its corner.
        let corners = [(1, 0, 0), (2, 1, 1)].map(|(x, y, z)| texel(x, y, z));
        let expected: Vec<f32> = match filter_mode {
            CL_FILTER_NEAREST => texel(2, 1, 1).to_vec(),
            _ => (0..4)
                .map(|i| (corners[0][i] + corners[1][i]) / 2.0)
                .collect(),
        };
        assert_eq!(floats(&queue, &out), expected);
    }
}

#[test]
fn images_have_all_dimensions() {
    let context = context();
    let queue = queue(&context);
    let text = include_str!("../../../compiler/tests/spirv/accept/vulkan_image_forms.spvasm");
    let program = built(&context, text, "1.2");
    let kernel = program.kernel("images").unwrap();
    let make = |image_type: u32, float: bool, texels: u32, desc: ImageDesc| {
        let number = |i: u32| if float { (i as f32).to_bits() } else { i };
        let components: Vec<u32> = (0..4 * texels).map(number).collect();
        let memory = buffer(&context, &components);
        let desc = ImageDesc { image_type, ..desc };
        let format = (CL_RGBA, if float { CL_FLOAT } else { CL_UNSIGNED_INT32 });
        let source = match image_type {
            CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageSource::Buffer(memory),
            _ => ImageSource::New,
        };
        let flags = match source {
            ImageSource::Buffer(_) => 0,
            _ => CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
        };
        let host = match source {
            ImageSource::Buffer(_) => HostPtr::null(),
            // SAFETY: copied during the call.
            _ => unsafe { HostPtr::new(components.as_ptr().cast_mut().cast()) },
        };
        Image::new(&context, flags, format, &desc, host, source, vec![]).unwrap()
    };
    let line = ImageDesc {
        width: 5,
        ..ImageDesc::default()
    };
    let layers = ImageDesc {
        width: 4,
        height: 2,
        array_size: 3,
        ..ImageDesc::default()
    };
    let cube = ImageDesc {
        width: 3,
        height: 2,
        depth: 2,
        ..ImageDesc::default()
    };
    let plane = ImageDesc {
        width: 4,
        height: 2,
        ..ImageDesc::default()
    };
    let images = [
        make(CL_MEM_OBJECT_IMAGE1D, false, 5, line),
        make(CL_MEM_OBJECT_IMAGE2D_ARRAY, true, 24, layers),
        make(CL_MEM_OBJECT_IMAGE3D, true, 12, cube),
        make(CL_MEM_OBJECT_IMAGE1D_BUFFER, false, 5, line),
        make(CL_MEM_OBJECT_IMAGE1D, true, 5, line),
        make(CL_MEM_OBJECT_IMAGE2D_ARRAY, false, 24, layers),
        make(CL_MEM_OBJECT_IMAGE3D, true, 12, cube),
        make(CL_MEM_OBJECT_IMAGE1D_BUFFER, false, 5, line),
        make(CL_MEM_OBJECT_IMAGE2D, false, 8, plane),
    ];
    for (index, image) in (0..).zip(&images) {
        kernel.set_arg_image(index, image).unwrap();
    }
    let out = buffer(&context, &[0; 13]);
    kernel.set_arg_buffer(9, Some(&out)).unwrap();
    launch(&queue, &kernel, 1, 1);
    let bits = |number: u32| (number as f32).to_bits();
    // Texels are numbered, x first; so are their components.
    let in_layers = (2 * 2) * 4 + 1;
    let in_cube = (2 * 3) + 1;
    let expected = [
        4 + 1,
        bits(4 * in_layers),
        bits(4 * in_cube + 2),
        8,
        bits(4 * in_cube),
        12 + 3,
        5,
        3,
        2,
        5,
        5,
        2,
        3,
    ];
    assert_eq!(words(&queue, &out), expected);
    let texel = |source: &Arc<Image>, at: [usize; 3]| {
        let destination = &buffer(&context, &[0; 4]);
        let copy = CopyImageToBuffer {
            source,
            destination,
            origin: [at[0], at[1], at[2], 0],
            region: [1; 3],
            offset: 0,
        };
        queue.submit_blocking(copy, true, &[]).unwrap();
        words(&queue, destination)
    };
    let (numbers, floats) = ([5, 6, 7, 8], [0.5f32, 1.5, 0.0, 0.5].map(f32::to_bits));
    assert_eq!(texel(&images[4], [1, 0, 0]), floats);
    assert_eq!(texel(&images[5], [1, 0, 1]), numbers);
    assert_eq!(texel(&images[6], [1, 0, 1]), floats);
    assert_eq!(texel(&images[7], [2, 0, 0]), numbers);
    assert_eq!(texel(&images[8], [1, 0, 0]), [4 + 5, 5 + 6, 6 + 7, 7 + 8]);
}
